import { queryOptions, useQuery } from "@tanstack/react-query"
import { api } from "../api/client"
import type { components } from "../api/schema"
import { useProject } from "../projects/queries"

type Schemas = components["schemas"]
export type GateAnswer = Schemas["GateAnswer"]

/** How a test of each runner names its test case. */
export const runnersQuery = queryOptions({
  queryKey: ["runners"],
  queryFn: ({ signal }) => api.get("/api/v1/automated-tests/runners", { signal }),
  staleTime: Number.POSITIVE_INFINITY,
  meta: { live: false },
})

/** Judge by a saved policy, or without one by the rules of the project. */
export function useGate(policy = "") {
  const project = useProject()
  const rules = project?.settings.gate ?? []
  return useQuery({
    queryKey: ["results", "gate", policy, rules],
    queryFn: ({ signal }): Promise<GateAnswer> => {
      const judged =
        policy || rules.length === 0
          ? api.get("/api/v1/reports/gate", { params: { query: { ...(policy && { policy }) } }, signal })
          : api.post("/api/v1/reports/gate", { body: { rules: rules as Schemas["Rule"][] }, signal })
      return judged as Promise<GateAnswer>
    },
    enabled: project !== undefined,
  })
}
