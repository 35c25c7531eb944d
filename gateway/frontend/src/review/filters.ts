import { useCallback, useMemo, useRef } from "react"
import * as v from "valibot"
import { useSearchParams } from "wouter"
import type { components } from "../api/schema"
import { m } from "../messages"
import { writeAlternatives } from "../url"

export const BANDS = Object.keys(m.common.bands) as (keyof typeof m.common.bands)[]
export const METHODS = ["hybrid", "semantic_similarity", "keyword_match"] as const
export const SORTS = ["score:desc", "relevance", "score:asc", "created_at:desc"] as const

const anyOf = <T extends readonly string[]>(values: T) => v.fallback(v.optional(v.picklist(values)), undefined)
const score = v.pipe(v.string(), v.nonEmpty(), v.transform(Number), v.minValue(0), v.maxValue(1))
const id = v.fallback(v.optional(v.pipe(v.string(), v.uuid())), undefined)

/** What the address says about the queue; what it says wrongly is left out. */
const ADDRESS = v.object({
  module: v.optional(v.string()),
  band: anyOf(BANDS),
  method: anyOf(METHODS),
  min: v.fallback(v.optional(score), undefined),
  sort: v.fallback(v.optional(v.picklist(SORTS), "score:desc"), "score:desc"),
  requirement: id,
  test_case: id,
})
export type Filters = v.InferOutput<typeof ADDRESS>

/** Return the filters that stand in the address, and how to change some of them. */
export function useFilters(): [Filters, (change: Partial<Filters>) => void] {
  const [search, setSearch] = useSearchParams()
  const filters = useMemo(() => v.parse(ADDRESS, Object.fromEntries(search)), [search])
  const latest = useRef({ filters, setSearch })
  latest.current = { filters, setSearch }
  const change = useCallback((some: Partial<Filters>) => {
    const next = Object.entries({ ...latest.current.filters, ...some }).filter(([, value]) => value !== undefined)
    latest.current.setSearch(next.map(([name, value]) => [name, String(value)]))
  }, [])
  return [filters, change]
}

export const NO_FILTERS: Partial<Filters> = {
  module: undefined,
  band: undefined,
  method: undefined,
  min: undefined,
  requirement: undefined,
  test_case: undefined,
}

/** Check whether anything narrows the queue. */
export function isNarrowed({ sort: _, ...filters }: Filters): boolean {
  return Object.values(filters).some((value) => value !== undefined)
}

/** Return the filters as the list takes them. */
export function asQuery({ module, band, method, min, requirement, test_case }: Filters) {
  return {
    status: ["pending" as const],
    ...(module !== undefined && { module: writeAlternatives([{ value: module, not: false }]) }),
    ...(band && { band: [band] }),
    ...(method && { method: [method] }),
    ...(min !== undefined && { min_score: min }),
    ...(requirement && { requirement_id: requirement }),
    ...(test_case && { test_case_id: test_case }),
  }
}

/** Return the filters as a review of many takes them. */
export function asBulkFilter(filters: Filters): components["schemas"]["BulkFilter"] {
  const { status, band, method, ...rest } = asQuery(filters)
  return { ...rest, status: status[0], ...(band && { band: band[0] }), ...(method && { method: method[0] }) }
}
