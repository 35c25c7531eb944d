export type Day = { date: string; coverage: number }

export const WIDTH = 640
export const HEIGHT = 160
const MARGIN = { top: 8, right: 8, bottom: 20, left: 40 }
const DAY_MS = 86_400_000
const SHARES = [0, 0.2, 0.4, 0.6, 0.8, 1]
const MOST_DATES = 6

/** Return the lines and ticks of a chart of coverage by day; a day that is missing leaves a gap. */
export function trendChart(days: Day[]) {
  const times = days.map(({ date }) => Date.parse(date))
  const first = Math.min(...times)
  const last = Math.max(...times)
  const x = (time: number) => MARGIN.left + share(time, first, last) * (WIDTH - MARGIN.right - MARGIN.left)
  const y = (coverage: number) => HEIGHT - MARGIN.bottom - coverage * (HEIGHT - MARGIN.bottom - MARGIN.top)
  const points = days.map(({ date, coverage }) => ({ date, x: x(Date.parse(date)), y: y(coverage) }))
  const at = new Map(points.map((point) => [point.date, point]))
  const draw = (run: Day[]) =>
    run
      .map(({ date }, index) => `${index ? "L" : "M"}${at.get(date)?.x.toFixed(3)},${at.get(date)?.y.toFixed(3)}`)
      .join("")
  return {
    // A point by itself is drawn by the ends of its line.
    paths: runs(days).map((run) => (run.length === 1 ? `${draw(run)}Z` : draw(run))),
    points,
    shares: SHARES.map((share) => ({ share, y: y(share) })),
    dates: dates(first, last).map((time) => ({ date: new Date(time), x: x(time) })),
  }
}

function share(time: number, first: number, last: number): number {
  return first === last ? 0.5 : (time - first) / (last - first)
}

/** Return some of the days between two, the same number of days apart. */
function dates(first: number, last: number): number[] {
  const step = Math.max(1, Math.ceil((last - first) / DAY_MS / (MOST_DATES - 1))) * DAY_MS
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, index) => first + index * step)
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
