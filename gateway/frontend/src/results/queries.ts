import { queryOptions, useQuery } from "@tanstack/react-query"
import { api } from "../api/client"
import type { components } from "../api/schema"
import { useProject } from "../projects/queries"

type Schemas = components["schemas"]
export type GateAnswer = Schemas["GateAnswer"]
export type VerificationReport = Schemas["VerificationReport"]

/** Return a page of requirements with their verdicts, and how many of all have which. */
export function readVerification(query: Record<string, unknown>, signal: AbortSignal): Promise<VerificationReport> {
  const params = { query: { ...query, format: "json" } as never }
  return api.get("/api/v1/reports/verification", { params, signal }) as Promise<VerificationReport>
}

export const verificationSummary = queryOptions({
  queryKey: ["results", "verdicts", "summary"],
  queryFn: async ({ signal }) => (await readVerification({ limit: 1 }, signal)).summary,
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
