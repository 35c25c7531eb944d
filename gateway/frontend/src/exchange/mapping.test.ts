import { describe, expect, it } from "vitest"
import { type Column, carriedOver, IGNORE, type Mapping, REST, targetOf, withTarget, withValue } from "./mapping"

const column = (position: number, name: string): Column => ({
  position,
  name,
  samples: [],
  blanks: 0,
  confidence: null,
  reason: null,
})
const ID = column(1, "Issue key")
const SUMMARY = column(2, "Summary")
const LABELS = [column(3, "Labels"), column(4, "Labels")]
const UNNAMED = column(5, "column E")
const COLUMNS = [ID, SUMMARY, ...LABELS, UNNAMED]
const MAPPING: Mapping = {
  version: 1,
  kind: "test_cases",
  source_system: "jira",
  fields: {
    external_id: { column: "Issue key" },
    title: { column: "Summary" },
    tags: { columns_named: "Labels" },
    steps: { style: "rows", action: "Action", expected: "Result", continues_when_blank: "Issue key" },
  },
}

describe("what a column becomes", () => {
  it("is the field whose rule names it, by its header, by one of several, or by its position", () => {
    expect(COLUMNS.map((one) => targetOf(MAPPING, one))).toEqual(["external_id", "title", "tags", "tags", REST])
    expect(targetOf({ ...MAPPING, fields: { title: { columns: ["Summary", 5] } } }, UNNAMED)).toBe("title")
  })

  it("is a part of the steps, also where each step has a column of its own", () => {
    expect(targetOf(MAPPING, column(6, "Result"))).toBe("steps.expected")
    const numbered: Mapping = { ...MAPPING, fields: { steps: { style: "columns", action: "Step {n}" } } }
    expect(targetOf(numbered, column(6, "Step 12"))).toBe("steps.action")
    expect(targetOf(numbered, column(6, "Step by step"))).toBe(REST)
  })

  it("changes without anything else of the mapping", () => {
    const next = withTarget(MAPPING, COLUMNS, SUMMARY, "description")
    expect(targetOf(next, SUMMARY)).toBe("description")
    expect(next).toEqual({
      ...MAPPING,
      fields: { ...withoutTitle(MAPPING), description: { column: "Summary" } },
    })
  })

  it("is named by its position where the header says nothing, or says it of several", () => {
    expect(withTarget(MAPPING, COLUMNS, UNNAMED, "module").fields.module).toEqual({ column: 5 })
    expect(withTarget(MAPPING, COLUMNS, LABELS[1] as Column, "module").fields.module).toEqual({ column: 4 })
  })

  it.each([IGNORE, REST, "links.requirements", "steps.data", "tags"])(
    "can be %s, and something else again",
    (target) => {
      const there = withTarget(MAPPING, COLUMNS, UNNAMED, target)
      expect(targetOf(there, UNNAMED)).toBe(target)
      expect(targetOf(withTarget(there, COLUMNS, UNNAMED, "module"), UNNAMED)).toBe("module")
    },
  )
})

describe("what a value becomes", () => {
  it("is said for each value by itself", () => {
    const one = withValue(MAPPING, "priority", "Blocker", "critical")
    const two = withValue(one, "priority", "*", "medium")
    expect(two.fields.priority?.values).toEqual({ Blocker: "critical", "*": "medium" })
    expect(withValue(two, "priority", "Blocker", undefined).fields.priority?.values).toEqual({ "*": "medium" })
  })
})

function withoutTitle({ fields: { title: _, ...others } }: Mapping) {
  return others
}

describe("a proposal for another sheet", () => {
  const urgency = column(3, "Urgency")
  const from = {
    columns: [ID, SUMMARY, urgency],
    mapping: { ...MAPPING, kind: "requirements", fields: { external_id: { column: "Issue key" } } } as Mapping,
  }
  const byHand = withTarget(from.mapping, from.columns, urgency, "priority")

  it("keeps what was set by hand for a column that it has, too", () => {
    const to = { columns: [column(1, "Urgency"), ID], mapping: { ...from.mapping, fields: {} } as Mapping }
    const { mapping, lost, isOwn } = carriedOver(withValue(byHand, "priority", "Now", "critical"), from, to)
    expect([targetOf(mapping, column(1, "Urgency")), mapping.fields.priority?.values, lost, isOwn]).toEqual([
      "priority",
      { Now: "critical" },
      [],
      true,
    ])
  })

  it("says what has no column or no field there", () => {
    const to = { columns: [ID], mapping: { ...MAPPING, kind: "links", fields: {} } as Mapping }
    expect(carriedOver(byHand, from, to)).toEqual({
      mapping: to.mapping,
      lost: [{ said: "Urgency", target: "priority" }],
      isOwn: false,
    })
  })

  it("is taken as it is where nothing was set by hand", () => {
    const to = { columns: [ID], mapping: MAPPING }
    expect(carriedOver(from.mapping, from, to)).toEqual({ mapping: MAPPING, lost: [], isOwn: false })
  })
})
