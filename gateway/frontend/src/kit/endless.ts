import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query"
import { useCallback, useMemo } from "react"

type Page<Row> = { items: Row[]; total: number; next_after: string | null }

const ROWS_BEFORE_THE_END = 30

/** Return the rows of a list that is read page by page, each page behind the one before. */
export function useEndless<P extends Page<unknown>>(
  key: readonly unknown[],
  read: (after: string | undefined, signal: AbortSignal) => Promise<P>,
  options: { enabled?: boolean } = {},
) {
  const query = useInfiniteQuery({
    ...options,
    queryKey: key,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_after ?? undefined,
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
    /** The envelope of the newest page. */
    page: data?.pages.at(-1),
    hasMore: hasNextPage,
    more,
    /** For a table: reads on when what is in sight is near the end. */
    onSight,
    /** Whether these are still the rows that were asked for before. */
    isStale: query.isPlaceholderData,
    error: query.error,
    retry: () => void query.refetch(),
  }
}
