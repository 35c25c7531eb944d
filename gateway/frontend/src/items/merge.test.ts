import { describe, expect, it } from "vitest"
import type { Item } from "./kinds"
import { compare, mergePatch, patchOf, same, touched, without } from "./merge"

const READ = {
  title: "Doors close",
  status: "draft",
  steps: { "1": "Open", "2": "Wait", "3": "Close" },
} as unknown as Item

/** What RFC 7396 makes of a document and a patch. */
function applied(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch
  const result: Record<string, unknown> = typeof target === "object" && !Array.isArray(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else result[name] = applied(result[name], value)
  }
  return result
}

describe("a merge patch", () => {
  it.each([
    [
      { "1": "a", "2": "b", "3": "c" },
      { "1": "a", "2": "c" },
    ],
    [{ a: { b: 1, c: [1, 2] } }, { a: { c: [2], d: { e: "x" } } }],
    [{}, { a: 1 }],
    [{ a: 1 }, {}],
    [{ a: [1] }, { a: { b: 1 } }],
  ])("makes the other of %j", (before, after) => {
    expect(applied(before, mergePatch(before, after))).toEqual(after)
  })

  it("says only what changed", () => {
    expect(patchOf(READ, { title: "Doors close", status: "approved" })).toEqual({ status: "approved" })
    expect(patchOf(READ, { steps: { "1": "Open", "2": "Close" } })).toEqual({ steps: { "2": "Close", "3": null } })
    expect(patchOf(READ, { steps: null })).toEqual({ steps: null })
    expect(patchOf({ module: null }, { module: null, tags: [] })).toEqual({ tags: [] })
  })
})

describe("two people at the same item", () => {
  const theirs = { ...READ, title: "All doors close", status: "approved", version: 2 } as Item

  it("clash where both changed a field, in different ways", () => {
    expect(compare(READ, { title: "Doors shut" }, theirs)).toEqual({ clashing: ["title"], others: ["status"] })
  })

  it("do not clash where they wrote the same, or one of them left it as it was", () => {
    expect(compare(READ, { title: "All doors close", status: "draft" }, theirs)).toEqual({
      clashing: [],
      others: ["status"],
    })
    expect(compare(READ, { description: "Longer" }, theirs).clashing).toEqual([])
  })

  it("lose nothing of the other by sending a whole form", () => {
    const form = { title: "Doors shut", status: "draft", description: READ.description }
    expect(patchOf(theirs, touched(READ, form))).toEqual({ title: "Doors shut" })
  })

  it("leave nothing to send for the field whose other text is taken", () => {
    const edits = without({ title: "Doors shut", status: "closed" }, new Set(["title"]))
    expect(patchOf(theirs, edits)).toEqual({ status: "closed" })
  })
})

it("sees the same in values whose members are in another order, and nothing in what is empty", () => {
  expect(same({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 })).toBe(true)
  expect(same(["a", "b"], ["b", "a"])).toBe(false)
  expect(same(undefined, null)).toBe(true)
})
