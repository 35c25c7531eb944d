import type { components } from "../api/schema"

export type Notification = components["schemas"]["Notification"]
/** What one run, review or request caused together, the newest first. */
export type Group = { key: string; items: Notification[] }
export type Day = { key: string; groups: Group[] }

/** What a request creates in a row comes as fast as that, and what people do one by one does not. */
const TOGETHER_MS = 5000
const FEWEST_FOLDED = 3

/** Return notifications, given the newest first, by the reader's days and by what they were caused by. */
export function daysOf(notifications: Notification[]): Day[] {
  const days: Day[] = []
  let before: Notification | undefined
  for (const one of notifications) {
    const key = new Date(one.created_at).toDateString()
    if (days.at(-1)?.key !== key) {
      days.push({ key, groups: [] })
      before = undefined
    }
    const groups = days.at(-1)?.groups ?? []
    if (before && areTogether(before, one)) groups.at(-1)?.items.push(one)
    else groups.push({ key: `${one.id}`, items: [one] })
    before = one
  }
  // Of a group that grows the oldest stays, and with it whether it is open.
  for (const group of days.flatMap(({ groups }) => groups)) group.key = `${group.items.at(-1)?.id}`
  return days
}

/** Check whether there are so many that one line stands for all of them at first. */
export const isFolded = (group: Group): boolean => group.items.length >= FEWEST_FOLDED

function areTogether(newer: Notification, older: Notification): boolean {
  const [one, other] = [causeOf(newer), causeOf(older)]
  if (one || other) return one === other
  return newer.type === older.type && Date.parse(newer.created_at) - Date.parse(older.created_at) <= TOGETHER_MS
}

function causeOf({ data }: Notification): unknown {
  return data.run_id ?? data.review_id
}

export type Lead = { to: "requirement" | "testCase" | "review" | "uncovered"; path: string }

/** Return where a notification leads: the item, the queue or the list that it speaks of. */
export function leadOf({ type, data }: Notification): Lead {
  const requirement = textOf(data.requirement_id)
  const testCase = textOf(data.test_case_id)
  if (type === "coverage_drop") return { to: "uncovered", path: "/requirements?coverage=none" }
  if (type === "suggestions_generated") {
    const narrowed = requirement ? `?requirement=${requirement}` : testCase ? `?test_case=${testCase}` : ""
    return { to: "review", path: `/review${narrowed}` }
  }
  if (requirement) return { to: "requirement", path: `/requirements/${requirement}` }
  if (testCase) return { to: "testCase", path: `/test-cases/${testCase}` }
  return { to: "review", path: "/review" }
}

function textOf(id: unknown): string | undefined {
  return typeof id === "string" ? encodeURIComponent(id) : undefined
}
