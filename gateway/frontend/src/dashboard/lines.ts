import { scaleLinear } from "d3-scale"
import { line } from "d3-shape"

export type Share = { date: string; verified: number; covered: number; isWorkedOut: boolean }
type Name = "verified" | "covered"

const MARGIN = { top: 8, right: 10, bottom: 20, left: 38 }
const DAY_MS = 86_400_000
const SHARES = [0, 0.25, 0.5, 0.75, 1]
const PER_DATE = 90

/** Return the lines and ticks of a plot of shares by day; a day that is missing among kept ones leaves a gap. */
export function plotLines(days: Share[], width: number, height: number) {
  const times = days.map(({ date }) => Date.parse(date))
  const [first, last] = [Math.min(...times), Math.max(...times)]
  const x = scaleLinear()
    .domain([first, last])
    .range([MARGIN.left, Math.max(MARGIN.left + 1, width - MARGIN.right)])
  const y = scaleLinear().range([height - MARGIN.bottom, MARGIN.top])
  const draw = (name: Name) =>
    line<Share>()
      .x(({ date }) => x(Date.parse(date)))
      .y((day) => y(day[name]))
  const parts = runs(days)
  return {
    lines: (["covered", "verified"] as const).map((name) => ({
      name,
      paths: parts.map(({ days: part, isWorkedOut }) => ({ path: draw(name)(part) ?? "", isWorkedOut })),
      points: parts.filter(({ days: part }) => part.length === 1).flatMap(({ days: part }) => part.map(at(name))),
      last: days.slice(-1).map(at(name))[0],
    })),
    shares: SHARES.map((share) => ({ share, y: y(share) })),
    dates: dates(first, last, width / PER_DATE).map((time) => ({ date: new Date(time), x: x(time) })),
  }
  function at(name: Name) {
    return (day: Share) => ({ x: x(Date.parse(day.date)), y: y(day[name]) })
  }
}

/** Return some of the days up to the last, the same number of days apart, and about so many. */
function dates(first: number, last: number, number: number): number[] {
  const step = Math.max(1, Math.ceil((last - first) / DAY_MS / Math.max(1, number))) * DAY_MS
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, index) => last - index * step).reverse()
}

/** Return parts of days that belong together: worked-out ones reach to the next, kept ones break where one is missing. */
export function runs(days: Share[]): { days: Share[]; isWorkedOut: boolean }[] {
  const found: { days: Share[]; isWorkedOut: boolean }[] = []
  for (const day of days) {
    const part = found.at(-1)
    const before = part?.days.at(-1)
    if (!part || !before) found.push({ days: [day], isWorkedOut: day.isWorkedOut })
    else if (part.isWorkedOut) {
      part.days.push(day)
      if (!day.isWorkedOut) found.push({ days: [day], isWorkedOut: false })
    } else if (Date.parse(day.date) - Date.parse(before.date) <= DAY_MS) part.days.push(day)
    else found.push({ days: [day], isWorkedOut: day.isWorkedOut })
  }
  return found
}
