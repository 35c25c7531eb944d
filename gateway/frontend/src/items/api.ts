import { api, client, withEtag } from "../api/client"
import type { components } from "../api/schema"
import type { Verdict } from "../results/verdict"
import type { Item, ItemRow, Kind } from "./kinds"

type Schemas = components["schemas"]

/** Parameters of a list, written as the API reads them. */
export type Query = Record<string, string>
export type Page = { items: ItemRow[]; total: number; next_after: string | null }
export type FacetCount = { value: string | null; count: number }
export type Read = { item: Item; etag: string }
export type TimelineEntry = Schemas["TimelineEntry"]
export type TimelinePage = { items: TimelineEntry[]; total: number; next_after: string | null }
/** How a test case ended in its last runs, the newest last. */
export type Runs = { run_id: string; at: string; status: "passed" | "failed" | "flaky" | "skipped" }[]
export type OneLink = Schemas["Link"] & { requirement: Schemas["ShortItem"]; test_case: Schemas["ShortItem"] }
/** An item with all that its screen shows. */
export type Detail = Read & {
  coverage: Schemas["ItemCoverage"]
  links: { items: OneLink[]; total: number }
  verdict: {
    branch: string
    verdict: Verdict
    test_cases: { id: string; verdict: Verdict; last_run_at: string | null; runs: Runs }[]
  }
  timeline: TimelinePage
}
export type Patch = Partial<Record<keyof Item, unknown>>

const ROW_FIELDS = "id,external_id,title,module,status,priority,tags,updated_at,etag,coverage"

/** In the query of rows: that they tell their further data, too, where the values of fields are. */
export const WITH_DATA = "with data"

const MOST = 500
const OTHER_SIDE = { requirement: "/test-cases", test_case: "/requirements" }

// Both kinds have the same routes and members. The types of the document tell them apart by their paths, and so the
// routes of requirements stand for both here, and nowhere else.
const all = (kind: Kind) => kind.api as "/api/v1/requirements"
const one = (kind: Kind) => `${kind.api}/{requirement_id}` as "/api/v1/requirements/{requirement_id}"
const at = (id: string) => ({ requirement_id: id })

/** Return rows of the list. */
export function readRows(kind: Kind, query: Query, signal?: AbortSignal): Promise<Page> {
  const { [WITH_DATA]: withData, ...filters } = query
  const fields = withData ? `${ROW_FIELDS},custom_metadata` : ROW_FIELDS
  const asked = { ...filters, fields, expand: "coverage" }
  return api.get(all(kind), { params: { query: asked as never }, signal }) as unknown as Promise<Page>
}

/** Return how many items have each value of a field, under the filters of the list. */
export async function readFacet(kind: Kind, name: string, filters: Query, signal?: AbortSignal): Promise<FacetCount[]> {
  const path = `${kind.api}/facets` as "/api/v1/requirements/facets"
  const query = { ...filters, facets: name } as never
  const { facets } = await api.get(path, { params: { query }, signal })
  return facets[name] ?? []
}

export type Linked = Schemas["LinkedTestCase"] | Schemas["LinkedRequirement"]
export type Linkeds = { items: Linked[]; total: number }
export type LinkType = Schemas["LinkType"]
export type History = Schemas["History"]

/** Return the items at the other side, each with its link, the one linked last first. */
export function readLinked(kind: Kind, id: string, signal?: AbortSignal): Promise<Linkeds> {
  const path =
    `${kind.api}/{requirement_id}${OTHER_SIDE[kind.name]}` as "/api/v1/requirements/{requirement_id}/test-cases"
  return api.get(path, { params: { path: at(id), query: { limit: MOST } }, signal })
}

/** Link two items by hand. */
export function createLink(requirement: string, testCase: string): Promise<Schemas["Link"]> {
  return api.post("/api/v1/links", { body: { requirement_id: requirement, test_case_id: testCase } })
}

export function changeLinkType(id: string, type: LinkType): Promise<Schemas["Link"]> {
  return api.patch("/api/v1/links/{link_id}", { params: { path: { link_id: id } }, body: { link_type: type } })
}

export function deleteLink(id: string): Promise<unknown> {
  return api.delete("/api/v1/links/{link_id}", { params: { path: { link_id: id } }, keepalive: true })
}

/** Return the pairs with this item that wait for a decision, the most likely first. */
export function readSuggestions(kind: Kind, id: string, signal?: AbortSignal) {
  const query = { [`${kind.name}_id`]: id, status: ["pending"], sort: "score:desc", limit: MOST } as never
  return api.get("/api/v1/suggestions", { params: { query }, signal })
}

/** Decide on a pair; throws what the API says, 409 when somebody else was first. */
export function review(id: string, decision: "accept" | "reject" | "reopen"): Promise<unknown> {
  const path = `/api/v1/suggestions/{suggestion_id}/${decision}` as "/api/v1/suggestions/{suggestion_id}/reopen"
  return api.post(path, { params: { path: { suggestion_id: id } } })
}

/** Return changes of an item, the newest first; with versions what differs between them. */
export function readHistory(
  kind: Kind,
  id: string,
  query: { skip?: number; limit?: number; from?: number; to?: number },
  signal?: AbortSignal,
): Promise<History> {
  const path = `${kind.api}/{requirement_id}/history` as "/api/v1/requirements/{requirement_id}/history"
  return api.get(path, { params: { path: at(id), query }, signal })
}

/** Return an item with its ETag. */
export async function readItem(kind: Kind, id: string, signal?: AbortSignal): Promise<Read> {
  return taken(client.GET(one(kind), { params: { path: at(id) }, signal }))
}

/** Return an item with its links, its verdict and what happened to it: all of one moment, by one request. */
export async function readDetail(kind: Kind, id: string, signal?: AbortSignal): Promise<Detail> {
  const params = { path: at(id), query: { expand: "coverage,links,verdict,timeline" as const } }
  const { coverage, links, verdict, timeline, etag, ...item } = (await api.get(one(kind), {
    params,
    signal,
  })) as unknown as Item & Omit<Detail, "item">
  return { item: item as Item, etag, coverage, links, verdict, timeline }
}

/** Return what happened to an item, the newest first; `show` names what alone is asked for. */
export function readTimeline(
  kind: Kind,
  id: string,
  { after, show }: { after?: string; show: string },
  signal: AbortSignal,
): Promise<TimelinePage> {
  const path = `${kind.api}/{requirement_id}/timeline` as "/api/v1/requirements/{requirement_id}/timeline"
  const query = { limit: 20, ...(after && { after }), ...(show && { show }) }
  return api.get(path, { params: { path: at(id), query }, signal })
}

/** Change an item, if it is still as `etag` says; return it as it is then. */
export async function patchItem(kind: Kind, id: string, patch: Patch, etag: string): Promise<Read> {
  const params = { path: at(id), header: { "If-Match": etag } }
  return taken(client.PATCH(one(kind), { params, body: patch as never }))
}

/** Create an item; a key lets the same form be sent twice without two items. */
export async function createItem(kind: Kind, fields: Patch, key: string): Promise<Read> {
  const params = { header: { "Idempotency-Key": key } }
  return taken(client.POST(all(kind), { params, body: fields as never }))
}

/** Delete an item with its links and suggestions, if it is still as `etag` says. */
export async function deleteItem(kind: Kind, id: string, etag: string): Promise<void> {
  await api.delete(one(kind), { params: { path: at(id), header: { "If-Match": etag } } })
}

/** What is done to many: fields that all get, tags that come or go, or their end. */
export type Change = { patch?: Patch; tags_add?: string[]; tags_remove?: string[]; delete?: true }
export type Which = { ids: string[]; if_match: Record<string, string> } | { filter: Query; expected_count?: number }
export type BulkAnswer = Schemas["BulkAnswer_Requirement_"]

/** Change many; a filter without `expected_count` only counts them. */
export function changeMany(kind: Kind, which: Which, change: Change): Promise<BulkAnswer> {
  const path = `${kind.api}/bulk` as "/api/v1/requirements/bulk"
  return api.post(path, { body: { ...which, ...change } as never })
}

/** Return what is searched for when nothing is found with these words; null when there is nothing like them. */
export async function readDidYouMean(kind: Kind, words: string, signal?: AbortSignal): Promise<string | null> {
  const query = { q: words, type: [kind.name], limit: 1 }
  return (await api.get("/api/v1/search", { params: { query }, signal })).did_you_mean
}

async function taken(answer: Parameters<typeof withEtag>[0]): Promise<Read> {
  const { data, etag } = await withEtag(answer)
  return { item: data as Item, etag }
}
