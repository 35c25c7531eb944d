import { expect, it } from "vitest"
import { daysOf, isFolded, leadOf, type Notification } from "./groups"

const NOON = Date.parse("2026-03-10T12:00:00")

function one(id: number, secondsAgo: number, more: Partial<Notification> = {}): Notification {
  const created_at = new Date(NOON - secondsAgo * 1000).toISOString()
  return { id, created_at, type: "requirement_created", data: {}, ...more } as Notification
}

const idsOf = (all: Notification[]) =>
  daysOf(all).map(({ groups }) => groups.map(({ items }) => items.map(({ id }) => id)))

it("puts together what came in one go, day by day", () => {
  const all = [one(5, 0), one(4, 2), one(3, 60), one(2, 61, { type: "test_case_created" }), one(1, 86_400)]
  expect(idsOf(all)).toEqual([[[5, 4], [3], [2]], [[1]]])
})

it("puts together what one run or review caused, however long it took", () => {
  const [run, other] = [{ data: { run_id: "a" } }, { data: { run_id: "b" } }]
  expect(idsOf([one(4, 0, other), one(3, 1, run), one(2, 900, run), one(1, 901)])).toEqual([[[4], [3, 2], [1]]])
})

it("folds three and more, and keeps a group that grows the same", () => {
  const three = daysOf([one(3, 0), one(2, 1), one(1, 2)])[0]?.groups[0]
  const two = daysOf([one(2, 1), one(1, 2)])[0]?.groups[0]
  expect([three && isFolded(three), two && isFolded(two)]).toEqual([true, false])
  expect(three?.key).toBe(two?.key)
})

it.each([
  ["requirement_created", { requirement_id: "r" }, "/requirements/r"],
  ["test_case_created", { test_case_id: "t" }, "/test-cases/t"],
  ["suggestions_generated", { requirement_id: "r" }, "/review?requirement=r"],
  ["suggestions_generated", { test_case_id: "t" }, "/review?test_case=t"],
  ["suggestions_generated", { run_id: "x" }, "/review"],
  ["suggestion_reviewed", { requirement_id: "r", test_case_id: "t" }, "/requirements/r"],
  ["suggestion_reviewed", { review_id: "x" }, "/review"],
  ["coverage_drop", { coverage: 0.4 }, "/requirements?coverage=none"],
] as const)("%s with %o leads to %s", (type, data, path) => {
  expect(leadOf(one(1, 0, { type, data })).path).toBe(path)
})
