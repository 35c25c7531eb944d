import type { Day } from "./queries"

/** Verdicts in the order in which the bar shows them: what is proved first, what nobody has looked at last. */
export const PARTS = ["passed", "failed", "flaky", "partial", "stale", "not_run", "uncovered"] as const
export type Part = (typeof PARTS)[number]
export type Verdicts = { [part in Part]: number }

const WEEK_DAYS = 7
const DAY_MS = 86_400_000

/** Return the list that a part of all requirements leads to, of a module where one is named. */
export const listOf = (part: Part, module?: string): string =>
  `/requirements?${module === undefined ? "" : `${module}&`}verdict=${part}`

/** Return how requirements stood a week before the last of these days, or undefined where nobody knows. */
export function weekBefore(days: Day[]): Verdicts | undefined {
  const last = days.at(-1)
  if (!last) return undefined
  const then = new Date(Date.parse(last.date) - WEEK_DAYS * DAY_MS).toISOString().slice(0, 10)
  // Of days in between that are missing, the one before tells.
  return days.findLast(({ date, requirements }) => date <= then && requirements)?.requirements ?? undefined
}
