import { describe, expect, it } from "vitest"
import { commandOf, exampleId, type Runner, runnerOf, withId } from "./runner"

describe("an example of a runner", () => {
  it("is shown with a test case of the project that every runner can name", () => {
    expect(exampleId([null, "Türen 1", "LIFT-7"])).toBe("LIFT-7")
    expect(exampleId([])).toBe("TC-1")
    expect(withId('@tag("TC-1")\ndef test_TC_1(): ...', "LIFT-7")).toBe('@tag("LIFT-7")\ndef test_LIFT_7(): ...')
  })

  it("is known by its report", () => {
    const runners = [{ name: "pytest", known_by: '<testsuite name="pytest"' }] as Runner[]
    expect(runnerOf(runners, '<testsuites><testsuite name="pytest">')?.name).toBe("pytest")
    expect(runnerOf(runners, "{}")).toBeUndefined()
  })

  it("sends its report to the project, patterns as they are", () => {
    expect(commandOf({ send: "report.xml" }, "LIFT")).toBe("traceline results report.xml --project LIFT")
    expect(commandOf({ send: "**/*.trx" }, "LIFT")).toBe("traceline results '**/*.trx' --project LIFT")
  })
})
