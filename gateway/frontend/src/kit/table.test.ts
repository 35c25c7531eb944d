import { expect, it } from "vitest"
import { fitting } from "./table"

const COLUMNS = [
  { id: "id", width: 100 },
  { id: "module", width: 100, rank: 2 },
  { id: "status", width: 100, rank: 1 },
]

it.each([
  [400, ["id", "module", "status"]],
  [250, ["id", "status"]],
  [90, ["id"]],
  [0, ["id", "module", "status"]],
])("shows in %i px the columns that matter most, in their order", (width, ids) => {
  expect(fitting(COLUMNS, width, 0).map(({ id }) => id)).toEqual(ids)
})
