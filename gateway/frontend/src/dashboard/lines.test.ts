import { expect, test } from "vitest"
import { plotLines, runs } from "./lines"

const day = (date: string, isWorkedOut = false, verified = 0.5) => ({ date, verified, covered: 0.8, isWorkedOut })

test("a day without a figure breaks the line instead of being invented", () => {
  const days = [day("2026-03-01"), day("2026-03-02"), day("2026-03-04")]
  expect(runs(days).map((part) => part.days.length)).toEqual([2, 1])
})

test("what was worked out reaches to what was kept, as a line of its own", () => {
  const days = [day("2026-03-01", true), day("2026-03-04", true), day("2026-03-05"), day("2026-03-06")]
  expect(runs(days).map((part) => [part.isWorkedOut, part.days.length])).toEqual([
    [true, 3],
    [false, 2],
  ])
})

test("all points are within the plot, the larger share higher up", () => {
  const { lines } = plotLines([day("2026-03-01", false, 0), day("2026-03-02", false, 1)], 400, 160)
  const [covered, verified] = lines
  expect(verified?.last?.y).toBeLessThan(covered?.last?.y ?? 0)
  for (const { last } of lines) expect(last && last.x >= 0 && last.x <= 400 && last.y >= 0 && last.y <= 160).toBe(true)
})
