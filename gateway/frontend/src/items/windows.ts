import { useQueries, useQueryClient } from "@tanstack/react-query"
import { useMemo, useRef, useState } from "react"
import { type Page, type Query, readRows } from "./api"
import type { ItemRow, Kind } from "./kinds"
import { PAGE_ROWS, pagesOf, position } from "./pages"

const KEPT_MS = 60_000
const REST_MS = 30

export type Rows = {
  /** undefined until the first answer. */
  total: number | undefined
  row: (index: number) => ItemRow | undefined
  /** Whether these are still the rows of the query before. */
  isStale: boolean
  error: unknown
  retry: () => void
}

/** The rows of a list that are in sight, read page by page; those of the query before stay until new ones are there. */
export function useRows(kind: Kind, query: Query): { rows: Rows; onSight: (first: number, last: number) => void } {
  const client = useQueryClient()
  const wanted = JSON.stringify(query)
  const [sight, setSight] = useState({ of: wanted, first: 0, last: 0 })
  const pages = sight.of === wanted ? pagesOf(sight.first, sight.last) : [0]
  const answers = useQueries({
    queries: pages.map((page) => ({
      queryKey: pageKey(kind, query, page),
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const place = position(page, client.getQueryData<Page>(pageKey(kind, query, page - 1)))
        // Who drags the scroll bar passes by many pages: a page is asked for when he rests there.
        if (place.skip) await rest(signal)
        return readRows(kind, { ...query, ...place, limit: String(PAGE_ROWS) }, signal)
      },
      gcTime: KEPT_MS,
      staleTime: KEPT_MS,
    })),
  })
  const newest = answers.filter(({ data }) => data).sort((a, b) => b.dataUpdatedAt - a.dataUpdatedAt)[0]?.data
  const shown = useRef<{ query: Query; total: number }>(undefined)
  if (newest) shown.current = { query, total: newest.total }
  const now = shown.current
  const failed = answers.find(({ error }) => error)
  const row = useMemo(() => {
    return (index: number) => {
      const page = Math.floor(index / PAGE_ROWS)
      return now && client.getQueryData<Page>(pageKey(kind, now.query, page))?.items[index % PAGE_ROWS]
    }
  }, [client, kind, now])
  const onSight = useMemo(() => (first: number, last: number) => setSight({ of: wanted, first, last }), [wanted])
  return {
    rows: {
      total: now?.total,
      row,
      isStale: now !== undefined && JSON.stringify(now.query) !== wanted,
      error: failed?.error,
      retry: () => void failed?.refetch(),
    },
    onSight,
  }
}

/** Put a row that has changed into every list that shows it. */
export function useReplaceRow(kind: Kind): (id: string, change: Partial<ItemRow>) => void {
  const client = useQueryClient()
  return (id, change) =>
    client.setQueriesData<Page>({ queryKey: [kind.key, "rows"] }, (page) =>
      page?.items.some((row) => row.id === id)
        ? { ...page, items: page.items.map((row) => (row.id === id ? { ...row, ...change } : row)) }
        : page,
    )
}

function pageKey(kind: Kind, query: Query, page: number) {
  return [kind.key, "rows", query, page]
}

function rest(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, REST_MS)
    signal.addEventListener("abort", () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}
