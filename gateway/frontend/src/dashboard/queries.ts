import { queryOptions } from "@tanstack/react-query"
import { api } from "../api/client"
import type { components } from "../api/schema"

const SHOWN = 6
const RUNS = 30
const MOST_ACTIVITY = 100
export const GRAVE = ["critical", "high"] as const

type Schemas = components["schemas"]
export type ModuleVerdicts = Schemas["ModuleVerdicts"]
export type Day = Schemas["ResultDay"]
export type ListedRun = Schemas["ListedTestRun"]
export type Entry = Schemas["Activity"]

export const verdictsByModule = queryOptions({
  queryKey: ["reports", "verdicts-by-module"],
  queryFn: ({ signal }) => api.get("/api/v1/reports/verdicts-by-module", { signal }),
})

export const resultTrend = (days: number) =>
  queryOptions({
    queryKey: ["reports", "result-trend", days],
    queryFn: ({ signal }) => api.get("/api/v1/reports/result-trend", { params: { query: { days } }, signal }),
  })

export const lastRuns = (branch: string | undefined) =>
  queryOptions({
    queryKey: ["results", "runs", "last", branch],
    queryFn: ({ signal }) =>
      api.get("/api/v1/test-runs", { params: { query: { limit: RUNS, branch: `"${branch}"` } }, signal }),
    enabled: branch !== undefined,
  })

/** Requirements that matter most and have one of these verdicts. */
export const graveRequirements = (verdicts: ("failed" | "uncovered")[]) =>
  queryOptions({
    queryKey: ["requirements", "grave", verdicts],
    queryFn: ({ signal }) => {
      const query = { verdict: verdicts, priority: [...GRAVE], sort: "priority:desc" as const, limit: SHOWN }
      return api.get("/api/v1/requirements", { params: { query }, signal })
    },
  })

/** How many references wait: read anew when links change, since they become links. */
export const waitingReferences = queryOptions({
  queryKey: ["links", "waiting"],
  queryFn: ({ signal }) => api.get("/api/v1/references", { params: { query: { waiting: true, limit: 1 } }, signal }),
})

export const suspectLinks = queryOptions({
  queryKey: ["links", "suspect", "count"],
  queryFn: ({ signal }) => api.get("/api/v1/links", { params: { query: { suspect: true, limit: 1 } }, signal }),
})

export const pendingByBand = queryOptions({
  queryKey: ["suggestions", "facets", "band"],
  queryFn: ({ signal }) => {
    const query = { status: ["pending" as const], facets: "band" }
    return api.get("/api/v1/suggestions/facets", { params: { query }, signal })
  },
})

export const flakyTests = queryOptions({
  queryKey: ["results", "flaky", "count"],
  queryFn: ({ signal }) => api.get("/api/v1/reports/flaky-tests", { params: { query: { limit: 1 } }, signal }),
})

export const missingTests = queryOptions({
  queryKey: ["results", "missing", "count"],
  queryFn: ({ signal }) =>
    api.get("/api/v1/automated-tests", { params: { query: { missing: true, limit: 1 } }, signal }),
})

export const waitingImports = queryOptions({
  queryKey: ["imports", "waiting"],
  queryFn: ({ signal }) =>
    api.get("/api/v1/imports", { params: { query: { status: ["planned" as const], limit: 1 } }, signal }),
})

export const latestActivity = (days: number) =>
  queryOptions({
    queryKey: ["activity", days],
    queryFn: ({ signal }) => api.get("/api/v1/activity", { params: { query: { days, limit: MOST_ACTIVITY } }, signal }),
  })
