import { keepPreviousData, type UseInfiniteQueryResult, useInfiniteQuery } from "@tanstack/react-query"
import { useCallback, useMemo } from "react"

type Page<Row> = { items: Row[]; total: number; next_after?: string | null; skip?: number }
/** Where a page begins: behind what the page before names, or where the API has no such thing, after so many rows. */
type Place = { after?: string; skip?: number }

export type Endless<Row> = {
  rows: Row[] | undefined
  key: string
  onSight: (first: number, last: number) => void
  isStale: boolean
  query: UseInfiniteQueryResult<unknown>
}

const ROWS_BEFORE_THE_END = 30

/** Return the rows of a list that is read page by page, each page behind the one before. */
export function useEndless<P extends Page<unknown>>(
  key: readonly unknown[],
  read: (place: Place, signal: AbortSignal) => Promise<P>,
) {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: {} as Place,
    getNextPageParam: (page) => nextPlace(page),
    placeholderData: keepPreviousData,
  })
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = query
  const rows = useMemo(() => data?.pages.flatMap((page) => page.items as P["items"][number][]), [data])
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  const length = rows?.length ?? 0
  const onSight = useCallback(
    (_: number, last: number) => {
      if (last > length - ROWS_BEFORE_THE_END) more()
    },
    [more, length],
  )
  return {
    /** undefined until the first answer. */
    rows,
    /** Of what is asked for. */
    key: JSON.stringify(key),
    /** The envelope of the newest page. */
    page: data?.pages.at(-1),
    hasMore: hasNextPage,
    more,
    /** For a table: reads on when what is in sight is near the end. */
    onSight,
    /** Whether these are still the rows that were asked for before. */
    isStale: query.isPlaceholderData,
    query,
  }
}

function nextPlace({ items, total, next_after, skip = 0 }: Page<unknown>): Place | undefined {
  if (next_after !== undefined) return next_after === null ? undefined : { after: next_after }
  return skip + items.length < total ? { skip: skip + items.length } : undefined
}
