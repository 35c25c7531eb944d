import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { readItem } from "./api"
import type { Kind } from "./kinds"

/** Read an item with its ETag; while another is on its way, the one before stays. */
export function useItem(kind: Kind, id: string) {
  return useQuery({
    queryKey: [kind.key, "item", id],
    queryFn: ({ signal }) => readItem(kind, id, signal),
    placeholderData: keepPreviousData,
  })
}
