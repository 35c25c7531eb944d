import { scaleLinear, scaleUtc } from "d3-scale"
import { line } from "d3-shape"

export type Day = { date: string; coverage: number }

export const WIDTH = 640
export const HEIGHT = 160
const MARGIN = { top: 8, right: 8, bottom: 20, left: 40 }
const DAY_MS = 86_400_000

/** Return the lines and ticks of a chart of coverage by day; a day that is missing leaves a gap. */
export function trendChart(days: Day[]) {
  const times = days.map(({ date }) => Date.parse(date))
  const x = scaleUtc([Math.min(...times), Math.max(...times)], [MARGIN.left, WIDTH - MARGIN.right])
  const y = scaleLinear([0, 1], [HEIGHT - MARGIN.bottom, MARGIN.top])
  const draw = line<Day>(
    ({ date }) => x(Date.parse(date)),
    ({ coverage }) => y(coverage),
  )
  return {
    paths: runs(days).map((run) => draw(run) ?? ""),
    points: days.map(({ date, coverage }) => ({ date, x: x(Date.parse(date)), y: y(coverage) })),
    shares: y.ticks(4).map((share) => ({ share, y: y(share) })),
    dates: x.ticks(Math.min(5, days.length)).map((date) => ({ date, x: x(date) })),
  }
}

/** Return days that follow one another without a gap. */
export function runs(days: Day[]): Day[][] {
  const found: Day[][] = []
  for (const day of days) {
    const last = found.at(-1)?.at(-1)
    if (last && Date.parse(day.date) - Date.parse(last.date) <= DAY_MS) found.at(-1)?.push(day)
    else found.push([day])
  }
  return found
}
