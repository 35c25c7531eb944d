import type { Query } from "./api"
import type { Kind } from "./kinds"
import { NOTHING, type Selected } from "./selection"

/** What somebody finds again who comes back to a list. */
export type Place = {
  query: string
  search: string
  offset: number
  active: number
  total: number
  selected: Selected
  /** Of the rows around the active one. */
  ids?: string[]
}

const places = new Map<string, Place>()

/** Return where a list was left; from its beginning when it is another query now. */
export function placeOf(kind: Kind, query: Query): Place {
  const place = places.get(kind.path)
  const asked = JSON.stringify(query)
  return place?.query === asked
    ? place
    : { query: asked, search: "", offset: 0, active: 0, total: 0, selected: NOTHING }
}

/** Return the address that leads back to a list as it was left. */
export const backTo = (kind: Kind): string => kind.path + (places.get(kind.path)?.search ?? "")

/** Return what stands before and behind an item in the list that somebody came from. */
export function neighboursOf(kind: Kind, id: string): { before?: string; next?: string } {
  const ids = places.get(kind.path)?.ids ?? []
  const at = ids.indexOf(id)
  return at < 0 ? {} : { before: ids[at - 1], next: ids[at + 1] }
}

export function keepPlace(kind: Kind, place: Place): void {
  places.set(kind.path, place)
}
