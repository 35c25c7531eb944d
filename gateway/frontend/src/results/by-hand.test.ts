import { describe, expect, it } from "vitest"
import { marked, moved, newRun, nextOpen, notesOf, resultOf } from "./by-hand"

const after = (...marks: Parameters<typeof marked>[1][]) => marks.reduce(marked, newRun(3))

describe("a test case that is run by hand", () => {
  it("has no result before its steps say one", () => {
    expect(resultOf(newRun(0))).toBeUndefined()
    expect(resultOf(after("passed", "passed"))).toBeUndefined()
  })

  it("passes when each step has", () => {
    expect(resultOf(after("passed", "passed", "passed"))).toBe("passed")
    expect(resultOf(marked(newRun(0), "passed"))).toBe("passed")
  })

  it("fails or is blocked whatever was not looked at then, and has not passed where a step was skipped", () => {
    expect(resultOf(after("passed", "failed"))).toBe("failed")
    expect(resultOf(after("blocked", "failed"))).toBe("failed")
    expect(resultOf(after("blocked"))).toBe("blocked")
    expect(resultOf(after("passed", "skipped", "passed"))).toBe("skipped")
  })

  it("can be marked anew", () => {
    const run = marked(moved(after("passed", "failed"), -1), "passed")
    expect(run.marks).toEqual(["passed", "passed", undefined])
    expect(run.step).toBe(2)
    expect(moved(run, 5).step).toBe(2)
  })

  it("says which steps have not passed, behind the note", () => {
    const run = { ...after("passed", "failed"), note: " Left door " }
    expect(notesOf(run, ["Open", "Close", "Lock"], (step, mark, text) => `${step} ${mark}: ${text}`)).toBe(
      "Left door\n2 failed: Close",
    )
    expect(notesOf({ ...newRun(0), note: "a" }, [], () => "")).toBe("a")
    expect(notesOf({ ...newRun(0), note: "a".repeat(5000) }, [], () => "")).toHaveLength(4000)
  })

  it("leads to the next without a result, round to the first", () => {
    const done = { ...newRun(1), recorded: "passed" as const }
    expect(nextOpen(["a", "b", "c"], { c: done }, 1)).toBe(0)
    expect(nextOpen(["a", "b"], { a: done, b: done }, 1)).toBeUndefined()
    expect(nextOpen(["a"], {}, 0)).toBe(0)
  })
})
