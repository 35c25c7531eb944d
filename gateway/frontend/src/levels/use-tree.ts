import { useQueries, useQueryClient } from "@tanstack/react-query"
import { useCallback, useMemo, useState } from "react"
import { store } from "../store"
import { type Line, linesOf, openParents } from "./lines"
import { type TreePage, treePage } from "./queries"

/** Which places are open; kept while another screen is shown. */
const opened = store<ReadonlySet<string>>(new Set())
const ROOTS = ""

/** The tree as its lines, of which pages are read as they come into sight. */
export function useTree() {
  const client = useQueryClient()
  const open = opened.use()
  const [wanted, setWanted] = useState<Record<string, number>>({})

  const pagesOf = useCallback(
    (parent: string | undefined): TreePage[] => {
      const pages: TreePage[] = []
      let after: string | undefined
      do {
        const page: TreePage | undefined = client.getQueryData(treePage(parent, after).queryKey)
        if (!page) break
        pages.push(page)
        after = page.next_after ?? undefined
      } while (after)
      return pages
    },
    [client],
  )
  const known = linesOf(open, pagesOf)
  const parents = [undefined, ...openParents(known)]
  const queries = useQueries({
    queries: parents.flatMap((parent) => {
      const pages = pagesOf(parent)
      const next = pages.at(-1)?.next_after ?? undefined
      const places = [undefined, ...pages.map(({ next_after }) => next_after ?? undefined)].slice(0, pages.length)
      const isWanted = pages.length === 0 || (next && (wanted[parent ?? ROOTS] ?? 1) > pages.length)
      return [...places, ...(isWanted ? [next] : [])].map((after) => treePage(parent, after))
    }),
  })
  const answered = queries.map(({ dataUpdatedAt }) => dataUpdatedAt).join()
  const lines = useMemo(() => linesOf(open, pagesOf), [open, pagesOf, answered])
  const onSight = useCallback(
    (first: number, last: number) => {
      const coming = lines.slice(first, last + 1).find((line) => !line.row)
      if (!coming) return
      const parent = coming.parent
      const next = pagesOf(parent).length + 1
      setWanted((before) => (before[parent ?? ROOTS] === next ? before : { ...before, [parent ?? ROOTS]: next }))
    },
    [lines, pagesOf],
  )
  return { lines, onSight, toggle, query: queries[0] as (typeof queries)[number] }
}

function toggle({ path, row, isOpen }: Line): void {
  if (!row || row.children === 0) return
  const next = new Set(opened.get())
  if (isOpen) next.delete(path)
  else next.add(path)
  opened.set(next)
}
