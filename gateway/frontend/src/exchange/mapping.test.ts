import { describe, expect, it } from "vitest"
import {
  asWhole,
  type Column,
  carriedOver,
  IGNORE,
  type Mapping,
  type Part,
  partsOf,
  REST,
  roleOf,
  targetOf,
  targetsOf,
  withParts,
  withTarget,
  withType,
  withValue,
} from "./mapping"

const column = (position: number, name: string): Column => ({ position, name })
const ID = column(1, "Issue key")
const SUMMARY = column(2, "Summary")
const LABELS = [column(3, "Labels"), column(4, "Labels")]
const UNNAMED = column(5, "column E")
const COLUMNS = [ID, SUMMARY, ...LABELS, UNNAMED]
const TESTS: Part = {
  sheet: "Tests",
  role: "test_cases",
  source_system: "jira",
  fields: {
    external_id: { column: "Issue key" },
    title: { column: "Summary" },
    tags: { columns_named: "Labels" },
    steps: { style: "rows", action: "Action", expected: "Result", continues_when_blank: "Issue key" },
  },
}
const MATRIX: Part = { sheet: "RTM", role: "matrix", matrix: { down: "requirements", keys: "ID", across: ["T-1", 3] } }
const WHOLE: Mapping = { version: 2, sheets: [TESTS, MATRIX, { sheet: "Cover", role: "ignore" }] }

describe("what a sheet is", () => {
  it("is said by its parts, and is nothing where it is left out", () => {
    expect(["Tests", "RTM", "Cover"].map((name) => roleOf(partsOf(WHOLE, name)))).toEqual([
      "test_cases",
      "matrix",
      "ignore",
    ])
    expect(roleOf([{ role: "requirements" }, { role: "test_cases" }])).toBe("requirements+test_cases")
  })

  it("changes at its place, and leaves the other sheets as they are", () => {
    const both: Part[] = [
      { sheet: "Tests", role: "requirements", fields: {} },
      { sheet: "Tests", role: "test_cases", fields: {} },
    ]
    expect(withParts(WHOLE, "Tests", both).sheets).toEqual([...both, MATRIX, { sheet: "Cover", role: "ignore" }])
    expect(withParts(WHOLE, "Tests", []).sheets[0]).toEqual({ sheet: "Tests", role: "ignore" })
  })

  it("takes the key of items along only as long as a sheet has its fields", () => {
    const keyed: Mapping = { ...WHOLE, key: ["title"] }
    expect(withParts(keyed, "RTM", []).key).toEqual(["title"])
    expect(withParts(keyed, "Tests", [])).not.toHaveProperty("key")
  })

  it("is said of one sheet alone by a mapping of before", () => {
    const old = { version: 1, kind: "requirements", encoding: "cp1252", fields: {} } as const
    expect(asWhole(old, "Reqs")).toEqual({
      version: 2,
      encoding: "cp1252",
      sheets: [{ sheet: "Reqs", role: "requirements", fields: {} }],
    })
    expect(asWhole(WHOLE, "Reqs")).toBe(WHOLE)
  })
})

describe("what a column becomes", () => {
  it("is the field whose rule names it, by its header, by one of several, or by its position", () => {
    expect(COLUMNS.map((one) => targetOf([TESTS], one))).toEqual([
      "test_cases/external_id",
      "test_cases/title",
      "test_cases/tags",
      "test_cases/tags",
      REST,
    ])
    const several: Part = { ...TESTS, fields: { title: { columns: ["Summary", 5] } } }
    expect(targetOf([several], UNNAMED)).toBe("test_cases/title")
  })

  it("is that of the last row of its header, too, where that has several", () => {
    const whole = { ...column(2, "Content / Summary"), header: "Summary" }
    expect(targetOf([TESTS], whole)).toBe("test_cases/title")
  })

  it("is a part of the steps, also where each step has a column of its own", () => {
    expect(targetOf([TESTS], column(6, "Result"))).toBe("test_cases/steps.expected")
    const numbered: Part = { ...TESTS, fields: { steps: { style: "columns", action: "Step {n}" } } }
    expect(targetOf([numbered], column(6, "Step 12"))).toBe("test_cases/steps.action")
    expect(targetOf([numbered], column(6, "Step by step"))).toBe(REST)
  })

  it("is a key or marks of a matrix, which has no place for anything else", () => {
    const columns = [column(1, "ID"), column(2, "T-1"), column(3, "T-2"), column(4, "Notes")]
    expect(columns.map((one) => targetOf([MATRIX], one))).toEqual([
      "matrix/keys",
      "matrix/across",
      "matrix/across",
      IGNORE,
    ])
    const [next] = withTarget([MATRIX], columns, columns[1] as Column, IGNORE)
    expect(next?.matrix?.across).toEqual([3])
  })

  it("changes without anything else of the parts", () => {
    const next = withTarget([TESTS], COLUMNS, SUMMARY, "test_cases/description")
    expect(targetOf(next, SUMMARY)).toBe("test_cases/description")
    const { title: _, ...others } = TESTS.fields ?? {}
    const fields = { ...others, description: { column: "Summary" }, title: { default_from: "description" } }
    expect(next).toEqual([{ ...TESTS, fields }])
  })

  it("leaves nothing without what items have to have", () => {
    const fields = {
      title: { column: "Summary" },
      description: { default_from: "title" },
      priority: { column: "Labels" },
    }
    const parts: Part[] = [{ role: "requirements", fields }]
    const [without] = withTarget(withTarget(parts, COLUMNS, SUMMARY, REST), COLUMNS, LABELS[0] as Column, REST)
    expect(without?.fields).toEqual({ priority: { constant: "medium" } })
    const [again] = withTarget([without as Part], COLUMNS, SUMMARY, "requirements/title")
    expect(again?.fields?.description).toEqual({ default_from: "title" })
  })

  it("is of one part of a sheet that has rows of both kinds", () => {
    const both: Part[] = [{ role: "requirements", fields: { title: { column: "Summary" } } }, TESTS]
    expect(targetOf(both, SUMMARY)).toBe("requirements/title")
    const next = withTarget(both, COLUMNS, SUMMARY, "test_cases/title")
    expect(targetOf(next, SUMMARY)).toBe("test_cases/title")
    expect(next[0]?.fields).toEqual({})
  })

  it("is named by its position where the header says nothing, or says it of several", () => {
    expect(withTarget([TESTS], COLUMNS, UNNAMED, "test_cases/module")[0]?.fields?.module).toEqual({ column: 5 })
    const second = LABELS[1] as Column
    expect(withTarget([TESTS], COLUMNS, second, "test_cases/module")[0]?.fields?.module).toEqual({ column: 4 })
  })

  it.each([IGNORE, REST, "test_cases/links.requirements", "test_cases/steps.data", "test_cases/tags"])(
    "can be %s, and something else again",
    (target) => {
      const there = withTarget([TESTS], COLUMNS, UNNAMED, target)
      expect(targetOf(there, UNNAMED)).toBe(target)
      const module = withTarget(there, COLUMNS, UNNAMED, "test_cases/module")
      expect(targetOf(module, UNNAMED)).toBe("test_cases/module")
    },
  )
})

describe("what a value becomes", () => {
  it("is said for each value by itself", () => {
    const one = withValue(TESTS, "priority", "Blocker", "critical")
    const two = withValue(one, "priority", "*", "medium")
    expect(two.fields?.priority?.values).toEqual({ Blocker: "critical", "*": "medium" })
    expect(withValue(two, "priority", "Blocker", undefined).fields?.priority?.values).toEqual({ "*": "medium" })
  })

  it("is said of a type for all parts that tell rows by their type", () => {
    const typed: Part[] = [{ ...TESTS, types: { column: "Type", roles: { Test: "test_cases" } } }]
    expect(withType(typed, "Story", "requirements")[0]?.types?.roles).toEqual({
      Test: "test_cases",
      Story: "requirements",
    })
  })
})

describe("a proposal that is made anew", () => {
  const urgency = column(3, "Urgency")
  const from = {
    columns: [ID, SUMMARY, urgency],
    parts: [{ role: "requirements", fields: { external_id: { column: "Issue key" } } }] as Part[],
  }
  const byHand = withTarget(from.parts, from.columns, urgency, "requirements/priority")

  it("keeps what was set by hand for a column that it has, too, also where the rows are something else", () => {
    const to = { columns: [column(1, "Urgency"), ID], parts: [{ role: "test_cases", fields: {} }] as Part[] }
    const withValues = byHand.map((part) => withValue(part, "priority", "Now", "critical"))
    const { parts, lost } = carriedOver(withValues, from, to)
    expect([targetOf(parts, column(1, "Urgency")), parts[0]?.fields?.priority?.values, lost]).toEqual([
      "test_cases/priority",
      { Now: "critical" },
      [],
    ])
  })

  it("makes fields of the project where these are made, and takes those that there are", () => {
    const owner = column(4, "Owner")
    const columns = [...from.columns, owner]
    const make = { name: "Owner", kind: "person" }
    const made = withTarget(from.parts, columns, owner, "requirements/field.owner", make)
    expect(made[0]?.fields?.["field.owner"]).toEqual({ column: "Owner", make })
    const to = { columns, parts: [{ role: "test_cases", fields: {} }] as Part[] }
    const { parts, lost } = carriedOver(made, { ...from, columns }, to)
    expect([parts[0]?.fields?.["field.owner"]?.make, lost]).toEqual([make, []])
    expect(withTarget(made, columns, owner, REST)[0]?.fields).not.toHaveProperty("field.owner")
    const there = [{ key: "asil", name: "ASIL", of: ["requirement"] }]
    expect(targetsOf(from.parts, there)).toContain("requirements/field.asil")
    expect(targetsOf(to.parts, there)).not.toContain("test_cases/field.asil")
  })

  it("says what has no column or no field there", () => {
    const to = { columns: [ID], parts: [{ role: "links", fields: {} }] as Part[] }
    expect(carriedOver(byHand, from, to)).toEqual({
      parts: to.parts,
      lost: [{ said: "Urgency", target: "requirements/priority" }],
    })
  })

  it("is taken as it is where nothing was set by hand", () => {
    const to = { columns: [ID], parts: [TESTS] }
    expect(carriedOver(from.parts, from, to)).toEqual({ parts: [TESTS], lost: [] })
  })
})
