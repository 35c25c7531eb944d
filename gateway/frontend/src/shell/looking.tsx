import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import { api } from "../api/client"
import type { components } from "../api/schema"
import { m } from "../messages"
import css from "./looking.module.css"

export type Search = components["schemas"]["Progress"]

const EACH_MS = 1000
/** An event tells that a search begins; one that came before the stream was there was missed. */
const IDLE_MS = 2000

const progress = queryOptions({
  queryKey: ["looking"],
  queryFn: ({ signal }) => api.get("/api/v1/suggestions/progress", { signal }),
  refetchInterval: ({ state }) => (state.data?.is_complete === false ? EACH_MS : IDLE_MS),
})

/** Return how far the search for links is; undefined until it is known. */
export function useLooking(): Search | undefined {
  return useQuery(progress).data
}

/** Return when it was last asked how far the search is, 0 before. */
export function useLookedAt(): number {
  return useQuery(progress).dataUpdatedAt
}

/** Return when the search was last seen to end, 0 if it was not: what was read before may lack what it has found. */
export function useLookingEnd(): number {
  const search = useLooking()
  const [wasLooking, setWasLooking] = useState(false)
  const [endedAt, setEndedAt] = useState(0)
  const isLooking = search ? !search.is_complete : wasLooking
  if (isLooking !== wasLooking) {
    setWasLooking(isLooking)
    if (!isLooking) setEndedAt(Date.now())
  }
  return endedAt
}

/** Keep what is shown of suggestions true while they are found. */
export function useFound(): void {
  const client = useQueryClient()
  const search = useLooking()
  const state = search && `${search.is_complete} ${search.done}`
  useEffect(() => {
    if (state) void client.invalidateQueries({ queryKey: ["suggestions"] })
  }, [state, client])
}

/** Says how far the search for links is. */
export function Looking({ search: { done, total } }: { search: Search }) {
  return (
    <span className={css.looking} role="status">
      <span>{m.common.looking(done, total)}</span>
      <progress max={total || undefined} value={total ? done : undefined} aria-label={m.common.lookingFor} />
    </span>
  )
}
