import * as v from "valibot"
import type { Query } from "./api"
import type { FacetName, Kind } from "./kinds"
import { PREFIX, type ProjectField } from "./project-fields"

const text = v.optional(v.string())
const SORTS = ["created_at", "updated_at", "title", "priority", "external_id", "relevance"]

/** What the address of a list can say. Filters are written as the API reads them. */
export const LIST_URL = {
  search: text,
  sort: v.optional(v.pipe(v.string(), v.regex(new RegExp(`^(${SORTS.join("|")}|field\\.[a-z0-9_]+)(:(asc|desc))?$`)))),
  peek: v.optional(v.pipe(v.string(), v.uuid())),
  module: text,
  status: text,
  type: text,
  priority: text,
  tag: text,
  automation_status: text,
  coverage: text,
  verdict: text,
  linked: v.optional(v.picklist(["true", "false"])),
}
export type ListUrl = { [name in keyof typeof LIST_URL]: string | undefined } & {
  [name in `${typeof PREFIX}${string}`]?: string | undefined
}

/** Return what the address of a list can say in a project with these fields. */
export const listUrl = (own: ProjectField[]): typeof LIST_URL => ({
  ...LIST_URL,
  ...Object.fromEntries(own.map(({ key }) => [`${PREFIX}${key}`, text])),
})

/** Return the names of the filters over fields of the project that an address has. */
const ofFields = (url: ListUrl) =>
  (Object.keys(url) as (keyof ListUrl)[]).filter((name): name is `field.${string}` => name.startsWith(PREFIX))

/** Return the query of the API that an address stands for. */
export function queryOf(kind: Kind, url: ListUrl): Query {
  const names = ["search", "sort", ...kind.facets, ...ofFields(url)] as const
  return Object.fromEntries(names.flatMap((name) => (url[name] ? [[name, url[name]]] : []))) as Query
}

/** Return the names of the filters that narrow the list. */
export function usedFilters(kind: Kind, url: ListUrl): (FacetName | "search" | `field.${string}`)[] {
  return (["search", ...kind.facets, ...ofFields(url)] as const).filter((name) => url[name])
}
