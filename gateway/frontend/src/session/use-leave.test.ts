import { expect, test } from "vitest"
import { ownPath } from "./use-leave"

const HERE = "https://traceline.test"

test.each([
  ["/p/MAIN/review?module=Login", "/p/MAIN/review?module=Login"],
  [null, "/"],
  ["review", "/"],
  ["//elsewhere.test/p", "/"],
  ["/\\elsewhere.test", "/"],
  ["/\t/elsewhere.test", "/"],
  ["https://elsewhere.test/", "/"],
  ["javascript:alert(1)", "/"],
])("whoever was led to %s goes on to %s", (next, path) => {
  expect(ownPath(next, HERE)).toBe(path)
})
