import { expect, test } from "vitest"
import { indexOfParent, linesOf, openParents } from "./lines"
import type { TreePage, TreeRow } from "./queries"

const row = (id: string, children = 0) => ({ id, children }) as TreeRow
const page = (items: TreeRow[], total = items.length) => ({ items, total }) as TreePage
const TREE: Record<string, TreePage[]> = {
  "": [page([row("a", 2), row("b", 1)])],
  a: [page([row("c"), row("d", 1)])],
  b: [page([row("c")])],
}
const pagesOf = (parent: string | undefined) => TREE[parent ?? ""] ?? []

test("only what is open shows what stands below it", () => {
  const lines = linesOf(new Set(["/a", "/b"]), pagesOf)
  expect(lines.map(({ path, depth }) => [path, depth])).toEqual([
    ["/a", 0],
    ["/a/c", 1],
    ["/a/d", 1],
    ["/b", 0],
    ["/b/c", 1],
  ])
  expect(openParents(lines)).toEqual(["a", "b"])
  expect(lines.map(({ position, size }) => `${position}/${size}`)).toEqual(["1/2", "1/2", "2/2", "2/2", "1/1"])
})

test("what is on its way has its place already", () => {
  const lines = linesOf(new Set(["/a", "/a/d"]), pagesOf)
  expect(lines.filter((line) => line.row === undefined).map(({ path, parent }) => [path, parent])).toEqual([
    ["/a/d/1", "d"],
  ])
  const first = linesOf(new Set(), () => [page([row("a")], 3)])
  expect(first.map((one) => one.row?.id)).toEqual(["a", undefined, undefined])
})

test("the line above another is the one that is open there", () => {
  const lines = linesOf(new Set(["/a", "/b"]), pagesOf)
  expect([0, 1, 2, 3, 4].map((index) => indexOfParent(lines, index))).toEqual([-1, 0, 0, -1, 3])
})
