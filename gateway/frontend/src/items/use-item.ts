import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { readDetail, readItem } from "./api"
import type { Kind } from "./kinds"

/** Read an item with its ETag; while another is on its way, the one before stays. */
export function useItem(kind: Kind, id: string) {
  return useQuery({
    queryKey: [kind.key, "item", id],
    queryFn: ({ signal }) => readItem(kind, id, signal),
    placeholderData: keepPreviousData,
  })
}

/** Read an item with all that its screen shows. */
export function useDetail(kind: Kind, id: string) {
  return useQuery({
    queryKey: [kind.key, "detail", id],
    queryFn: ({ signal }) => readDetail(kind, id, signal),
    placeholderData: keepPreviousData,
  })
}
