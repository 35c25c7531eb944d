import { expect, test } from "vitest"
import { HEIGHT, runs, trendChart, WIDTH } from "./trend"

const day = (date: string, coverage = 0.5) => ({ date, coverage })

test("a day without a figure breaks the line instead of being invented", () => {
  const days = [day("2026-03-01"), day("2026-03-02"), day("2026-03-04")]
  expect(runs(days).map((run) => run.length)).toEqual([2, 1])
  expect(trendChart(days).paths).toHaveLength(2)
})

test("all points are within the chart, more coverage higher up", () => {
  const { points } = trendChart([day("2026-03-01", 0), day("2026-03-02", 1)])
  expect(points[1]?.y).toBeLessThan(points[0]?.y ?? 0)
  for (const { x, y } of points) {
    expect(x >= 0 && x <= WIDTH && y >= 0 && y <= HEIGHT).toBe(true)
  }
})
