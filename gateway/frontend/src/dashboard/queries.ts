import { queryOptions } from "@tanstack/react-query"
import { api } from "../api/client"

const SHOWN = 6

export const coverageByModule = queryOptions({
  queryKey: ["reports", "coverage-by-module"],
  queryFn: ({ signal }) => api.get("/api/v1/reports/coverage-by-module", { signal }),
})

export const coverageTrend = (days: number) =>
  queryOptions({
    queryKey: ["reports", "coverage-trend", days],
    queryFn: ({ signal }) => api.get("/api/v1/reports/coverage-trend", { params: { query: { days } }, signal }),
  })

export const worstGaps = queryOptions({
  queryKey: ["requirements", "gaps"],
  queryFn: ({ signal }) => {
    const query = { coverage: ["none" as const], sort: "priority:desc" as const, limit: SHOWN }
    return api.get("/api/v1/requirements", { params: { query }, signal })
  },
})

/** How many references wait: read anew when links change, since they become links. */
export const waitingReferences = queryOptions({
  queryKey: ["links", "waiting"],
  queryFn: ({ signal }) => api.get("/api/v1/references", { params: { query: { waiting: true, limit: 1 } }, signal }),
})

export const newestSuspects = queryOptions({
  queryKey: ["links", "suspect", "newest"],
  queryFn: ({ signal }) => {
    const query = { suspect: true, expand: "items" as const, limit: SHOWN }
    return api.get("/api/v1/links", { params: { query }, signal })
  },
})

export const pendingByBand = queryOptions({
  queryKey: ["suggestions", "facets", "band"],
  queryFn: ({ signal }) => {
    const query = { status: ["pending" as const], facets: "band" }
    return api.get("/api/v1/suggestions/facets", { params: { query }, signal })
  },
})

export const latestActivity = (days: number) =>
  queryOptions({
    queryKey: ["activity", days],
    queryFn: ({ signal }) => api.get("/api/v1/activity", { params: { query: { days, limit: 2 * SHOWN } }, signal }),
  })
