import { describe, expect, it } from "vitest"
import type { Inspection } from "./api"
import type { Part } from "./mapping"
import { asking, problemsOf, proposalsOf, reasonOf, takenAnew } from "./sheets"

const table = (sheet: string, ...names: string[]) => ({ sheet, header_row: 1, count: 1, names, rows: [] })
const columns = (...names: string[]) =>
  names.map((name, at) => ({ name, position: at + 1, field: null, reason: `About ${name}` }))
const REQS: Part = { sheet: "Reqs", role: "requirements", fields: { title: { column: "Title" } } }
const FOUND = {
  tables: [table("Reqs", "Title", "Owner"), table("Cover", "Doors")],
  parts: [{ sheet: "Reqs", role: "requirements", columns: columns("Title", "Owner") }],
  record_mapping: { version: 2, sheets: [REQS, { sheet: "Cover", role: "ignore" }] },
  rows: [{ sheet: "Reqs", row: 3, problems: [{ column: 2, message: "No person." }] }],
} as unknown as Inspection
const MAPPING = FOUND.record_mapping as NonNullable<Inspection["record_mapping"]>

describe("the sheets of a file", () => {
  it("have what is proposed for them with the reason, which goes with another choice", () => {
    const proposal = proposalsOf(FOUND).get("Reqs")
    const [title] = proposal?.columns ?? []
    if (!title) throw new Error("there is a first column")
    expect(reasonOf([REQS], title, proposal)?.reason).toBe("About Title")
    expect(reasonOf([{ ...REQS, fields: {} }], title, proposal)).toBeUndefined()
    expect(proposalsOf(FOUND).get("Cover")?.columns).toHaveLength(1)
  })

  it("are proposed anew one by one, with what was set by hand", () => {
    const fields = { ...REQS.fields, module: { column: "Owner" }, description: { default_from: "title" } }
    const byHand: Part = { ...REQS, fields }
    const mapping = { ...MAPPING, sheets: [byHand, ...MAPPING.sheets.slice(1)] }
    expect(asking(mapping, "Reqs", { role: "auto", header_row: 2 }).sheets[0]).toEqual({
      sheet: "Reqs",
      role: "auto",
      header_row: 2,
    })
    const taken = takenAnew(mapping, FOUND, "Reqs", proposalsOf(FOUND).get("Reqs"))
    expect(taken).toEqual({ mapping, lost: [] })
  })

  it("have their problems at their rows", () => {
    expect([...problemsOf(FOUND, "Reqs")]).toEqual([[3, [{ column: 2, message: "No person." }]]])
    expect(problemsOf(FOUND, "Cover").size).toBe(0)
  })
})
