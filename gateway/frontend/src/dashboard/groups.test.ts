import { expect, test } from "vitest"
import { groupEntries } from "./groups"
import type { Entry } from "./queries"

const entry = (action: string, actor: string, occurred_at: string) => ({ action, actor, occurred_at }) as Entry

test("the same done by the same person within an hour is one group, also with other things between", () => {
  const groups = groupEntries([
    entry("link.created", "mia", "2026-03-01T12:00:00Z"),
    entry("link.deleted", "mia", "2026-03-01T11:50:00Z"),
    entry("link.created", "kim", "2026-03-01T11:40:00Z"),
    entry("link.created", "mia", "2026-03-01T11:30:00Z"),
    entry("link.created", "mia", "2026-03-01T08:00:00Z"),
  ])
  expect(groups.map(({ first, count }) => [first.action, first.actor, count])).toEqual([
    ["link.created", "mia", 2],
    ["link.deleted", "mia", 1],
    ["link.created", "kim", 1],
    ["link.created", "mia", 1],
  ])
})
