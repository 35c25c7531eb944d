import { type InfiniteData, keepPreviousData, queryOptions, useInfiniteQuery } from "@tanstack/react-query"
import { api } from "../api/client"
import { queryClient } from "../api/query-client"
import type { components } from "../api/schema"
import { asQuery, type Filters } from "./filters"
import type { Pair, Suggestion } from "./queue"

type Schemas = components["schemas"]
/** A pair with all that both sides say. */
export type Texts = Suggestion & { requirement: Schemas["RequirementTexts"]; test_case: Schemas["TestCaseTexts"] }
export type ListPage = {
  pairs: Pair[]
  /** How many entries there are, and how many pairs: variants, and those beyond the best of a requirement, too. */
  total: number
  ofAll: number
  next: string | null
}

const PAGE = 100
/** So many pairs of a requirement are shown at first. */
const BEST = 3
const MOST_REVIEWED = 500
const COUNTED_EACH_MS = 30_000
const FRESH_MS = 60_000
const KEPT_MS = 120_000
const MOST_TEXTS = 40
const TEXTS = ["review", "texts"]

/** Read the pending pairs, page by page; never by itself: what is being read stays where it is. */
export function useList(filters: Filters) {
  return useInfiniteQuery<ListPage, Error, InfiniteData<ListPage>, unknown[], string | undefined>({
    queryKey: ["review", "list", filters],
    queryFn: ({ pageParam, signal }) => readPage(filters, pageParam, signal),
    initialPageParam: undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
}

async function readPage(filters: Filters, after: string | undefined, signal: AbortSignal): Promise<ListPage> {
  // Of one requirement or test case everything is asked for: that is what "and 27 more" opens.
  const best = !filters.requirement && !filters.test_case && { per_requirement: BEST }
  const variants = "together" as const
  const query = { ...asQuery(filters), ...best, variants, sort: filters.sort, limit: PAGE, ...(after && { after }) }
  const page = await api.get("/api/v1/suggestions", { params: { query }, signal })
  return { pairs: page.items.map(asPair), total: page.total, ofAll: page.total_of_all, next: page.next_after }
}

/** Leave out of a row what the list does not show: thousands of rows stay. */
function asPair(suggestion: Suggestion): Pair {
  const { id, similarity_score, band, suggestion_method, requirement, test_case, more_of_requirement } = suggestion
  const variants = suggestion.variants ?? []
  return { id, similarity_score, band, suggestion_method, requirement, test_case, more_of_requirement, variants }
}

/** Read what was reviewed since a moment, the newest last, for who may have missed it. */
export async function readReviewed(since: Date): Promise<Suggestion[]> {
  const query = { reviewed_since: since.toISOString(), limit: MOST_REVIEWED }
  const { items } = await api.get("/api/v1/suggestions", { params: { query } })
  return items
}

/** What both sides of a pair say, and why they were put together. */
export const textsOf = (id: string) =>
  queryOptions({
    queryKey: [...TEXTS, id],
    queryFn: ({ signal }) =>
      api.get("/api/v1/suggestions/{suggestion_id}", {
        params: { path: { suggestion_id: id }, query: { expand: "texts" } },
        signal,
      }) as Promise<Texts>,
    staleTime: FRESH_MS,
    gcTime: KEPT_MS,
  })

/** Read the texts of what comes next, so that it is there when its turn comes; those read long ago go. */
export function prefetch(ids: readonly string[]): void {
  for (const id of ids) void queryClient.prefetchQuery(textsOf(id))
  const cache = queryClient.getQueryCache()
  const known = cache.findAll({ queryKey: TEXTS, type: "inactive" })
  for (const query of known.slice(0, -MOST_TEXTS)) cache.remove(query)
}

export type Facets = Partial<Record<"module" | "band" | "method", { value: string | null; count: number }[]>>

/** How many pairs wait in each module, band and method, under the other filters. */
export const facetsOf = (filters: Filters) =>
  queryOptions({
    queryKey: ["review", "facets", filters],
    queryFn: async ({ signal }) => {
      const query = { ...asQuery(filters), facets: "module,band,method" }
      const answer = await api.get("/api/v1/suggestions/facets", { params: { query }, signal })
      return answer.facets as Facets
    },
    staleTime: COUNTED_EACH_MS,
    refetchInterval: COUNTED_EACH_MS,
    placeholderData: keepPreviousData,
  })
