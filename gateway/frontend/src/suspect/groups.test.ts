import { expect, test } from "vitest"
import { groupsOf, linesOf, neighbour, type SuspectLink } from "./groups"

const newer = (to_version: number, ...fields: string[]) => ({ from_version: 1, to_version, fields })
const item = (id: string) => ({ id, external_id: id, title: `about ${id}`, module: null })

function link(id: string, requirement: string, testCase: string, changed: "requirement" | "test_case"): SuspectLink {
  const reason = { summary: "", requirement: null, test_case: null, [changed]: newer(2, "title") }
  return { id, requirement: item(requirement), test_case: item(testCase), suspect_reason: reason } as SuspectLink
}

test("links that one change made suspect stand together, whatever their order", () => {
  const groups = groupsOf([
    link("1", "R1", "T1", "requirement"),
    link("2", "R2", "T2", "test_case"),
    link("3", "R1", "T3", "requirement"),
  ])
  expect(groups.map(({ item, links }) => [item.id, links.map(({ id }) => id)])).toEqual([
    ["R1", ["1", "3"]],
    ["T2", ["2"]],
  ])
})

test("each version of an item is a change of its own", () => {
  const second = link("2", "R1", "T2", "requirement")
  second.suspect_reason = { summary: "", test_case: null, requirement: newer(3, "description") }
  expect(groupsOf([link("1", "R1", "T1", "requirement"), second])).toHaveLength(2)
})

test("a group is a heading and its links", () => {
  const lines = linesOf(groupsOf([link("1", "R1", "T1", "requirement"), link("2", "R1", "T2", "requirement")]))
  expect(lines.map((line) => line.link?.id)).toEqual([undefined, "1", "2"])
})

test("after the last link the one before it is looked at, and none after the only one", () => {
  const links = [link("1", "R1", "T1", "requirement"), link("2", "R1", "T2", "requirement")]
  expect(neighbour(links, "1")).toBe("2")
  expect(neighbour(links, "2")).toBe("1")
  expect(neighbour(links.slice(0, 1), "1")).toBeUndefined()
})
