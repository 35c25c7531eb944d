import type { Entry } from "./queries"

const TOGETHER_MS = 60 * 60 * 1000

/** Entries that are one thing to a reader: the same done by the same person within an hour, the newest first. */
export type Group = { first: Entry; count: number }

/** Return groups of entries, which are the newest first. */
export function groupEntries(entries: Entry[]): Group[] {
  const groups: (Group & { last: number })[] = []
  for (const entry of entries) {
    const at = Date.parse(entry.occurred_at)
    const same = groups.find(
      ({ first, last }) => first.action === entry.action && first.actor === entry.actor && last - at <= TOGETHER_MS,
    )
    if (same) {
      same.count += 1
      same.last = at
    } else groups.push({ first: entry, count: 1, last: at })
  }
  return groups.map(({ first, count }) => ({ first, count }))
}
