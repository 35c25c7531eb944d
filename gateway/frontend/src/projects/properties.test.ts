import { expect, it } from "vitest"
import { readNames, writeNames } from "./properties"

it("reads the names that it writes, tells none at all from none of its own", () => {
  for (const names of [null, [], ["jira"], ["test_case", "Story points"]]) {
    expect(readNames(writeNames(names))).toEqual(names)
  }
  expect(readNames(" a,, b \n")).toEqual(["a", "b"])
})
