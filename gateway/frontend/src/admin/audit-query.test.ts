import { expect, it } from "vitest"
import { queryOf } from "./audit-query"

const nothing = {
  actor: undefined,
  action: undefined,
  resource_type: undefined,
  resource_id: undefined,
  since: undefined,
  until: undefined,
}

it("asks for whole days of the reader, the last one included", () => {
  const { since = "", until = "" } = queryOf({ ...nothing, since: "2026-03-01", until: "2026-03-01" })
  expect(new Date(since)).toEqual(new Date(2026, 2, 1))
  expect(new Date(until)).toEqual(new Date(2026, 2, 2))
})

it("leaves out what is not asked for", () => {
  expect(queryOf({ ...nothing, actor: "kim@example.com" })).toEqual({ actor: "kim@example.com" })
})
