import type { TreePage, TreeRow } from "./queries"

/** A place of the tree; without a row it is still on its way, as one of those below `parent`. */
export type Line = {
  /** The ids from the root to it: one with two parents is at two places. */
  path: string
  parent: string | undefined
  depth: number
  row?: TreeRow
  isOpen: boolean
  position: number
  size: number
}

/** Return the lines of a tree of which these places are open; `pagesOf` has what is there below one, or of the roots. */
export function linesOf(
  open: ReadonlySet<string>,
  pagesOf: (parent: string | undefined) => readonly TreePage[],
  parent?: string,
  above = "",
  depth = 0,
): Line[] {
  const pages = pagesOf(parent)
  const size = pages[0]?.total ?? 0
  const lines: Line[] = []
  let position = 0
  for (const row of pages.flatMap(({ items }) => items)) {
    position += 1
    const path = `${above}/${row.id}`
    const isOpen = row.children > 0 && open.has(path)
    lines.push({ path, parent, depth, row, isOpen, position, size })
    if (!isOpen) continue
    const below = linesOf(open, pagesOf, row.id, path, depth + 1)
    for (const line of below.length > 0 ? below : comingOf(row, path, depth + 1)) lines.push(line)
  }
  while (position < size) {
    position += 1
    lines.push({ path: `${above}/${position}`, parent, depth, isOpen: false, position, size })
  }
  return lines
}

function comingOf({ id, children }: TreeRow, above: string, depth: number): Line[] {
  return Array.from({ length: children }, (_, place) => ({
    path: `${above}/${place + 1}`,
    parent: id,
    depth,
    isOpen: false,
    position: place + 1,
    size: children,
  }))
}

/** Return the parents of which places are open, each once. */
export function openParents(lines: readonly Line[]): string[] {
  return [...new Set(lines.flatMap(({ isOpen, row }) => (isOpen && row ? [row.id] : [])))]
}

/** Return the index of the line above which another stands; -1 for a root. */
export function indexOfParent(lines: readonly Line[], index: number): number {
  const path = lines[index]?.path ?? ""
  const above = path.slice(0, path.lastIndexOf("/"))
  return above === "" ? -1 : lines.findIndex((line) => line.path === above)
}
