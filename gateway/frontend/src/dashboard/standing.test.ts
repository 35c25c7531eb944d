import { expect, test } from "vitest"
import type { Day } from "./queries"
import { weekBefore } from "./standing"

const day = (date: string, passed: number | undefined) =>
  ({ date, requirements: passed === undefined ? null : { passed } }) as unknown as Day

test("a week before is the day that was, or the last one known before it", () => {
  const days = [day("2026-03-01", 1), day("2026-03-03", 2), day("2026-03-08", 3), day("2026-03-10", 4)]
  expect(weekBefore(days)?.passed).toBe(2)
  expect(weekBefore(days.slice(0, 3))?.passed).toBe(1)
  expect(weekBefore([day("2026-03-01", undefined), day("2026-03-08", 3)])).toBeUndefined()
  expect(weekBefore([])).toBeUndefined()
})
