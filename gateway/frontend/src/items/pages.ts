export const PAGE_ROWS = 100

/** Return the numbers of the pages that hold the rows from `first` to `last`. */
export function pagesOf(first: number, last: number): number[] {
  const from = Math.floor(first / PAGE_ROWS)
  return Array.from({ length: Math.floor(last / PAGE_ROWS) - from + 1 }, (_, place) => from + place)
}

/** Return how a page is asked for: behind the page before where that is known, else by how many rows come first. */
export function position(page: number, before: { next_after: string | null } | undefined): Record<string, string> {
  if (page === 0) return {}
  return before?.next_after ? { after: before.next_after } : { skip: String(page * PAGE_ROWS) }
}
