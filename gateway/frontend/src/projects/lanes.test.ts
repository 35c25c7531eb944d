import { expect, it } from "vitest"
import { readLanes, writeLanes } from "./lanes"

it("reads the lanes that it writes, and leaves empty lines out", () => {
  const expected = [
    { branch: "main", lanes: ["ci/unit", "ci/e2e"] },
    { branch: "else/doors:release/*", lanes: ["doors/:pytest: all"] },
  ]
  const text = writeLanes(expected)
  expect(text).toBe("main: ci/unit, ci/e2e\nelse/doors:release/*: doors/:pytest: all")
  expect(readLanes(`\n${text}\n \n`)).toEqual(expected)
  expect(readLanes("main")).toEqual([{ branch: "main", lanes: [] }])
  expect(readLanes(" \n")).toBeNull()
})
