import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import { type Linkeds, readLinked, readSuggestions } from "./api"
import { type Kind, otherKind } from "./kinds"

/** What is linked with an item. */
export function useLinked(kind: Kind, id: string): UseQueryResult<Linkeds> {
  return useQuery({ queryKey: [kind.key, "links", id], queryFn: ({ signal }) => readLinked(kind, id, signal) })
}

/** The pairs with an item that wait for a decision. */
export function useSuggestions(kind: Kind, id: string) {
  return useQuery({
    queryKey: ["suggestions", kind.name, id],
    queryFn: ({ signal }) => readSuggestions(kind, id, signal),
  })
}

/** Have everything read anew that shows links and suggestions of items. */
export function useLinksChanged(kind: Kind): () => void {
  const client = useQueryClient()
  return () => {
    const keys = [kind, otherKind(kind)].flatMap((one) => [
      [one.key, "links"],
      [one.key, "rows"],
      [one.key, "detail"],
    ])
    for (const queryKey of [...keys, ["suggestions"]]) void client.invalidateQueries({ queryKey })
  }
}
