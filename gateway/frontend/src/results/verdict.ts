import { queryOptions } from "@tanstack/react-query"
import { api } from "../api/client"
import type { components } from "../api/schema"
import type { State } from "../kit/badge"
import type { words } from "./words"

export type Verdict = keyof typeof words.states
type VerificationReport = components["schemas"]["VerificationReport"]

const TOGETHER_MS = 20

/** What a verdict or a result looks like. */
export const STATES: Record<Verdict, State> = {
  passed: "covered",
  failed: "failed",
  flaky: "pending",
  partial: "suspect",
  stale: "suspect",
  not_run: "none",
  skipped: "none",
  blocked: "suspect",
  uncovered: "none",
}

/** Verdicts of requirements, the worst first. */
export const VERDICTS = ["failed", "flaky", "partial", "stale", "not_run", "uncovered", "passed"] as const
/** Verdicts of test cases, the worst first. */
export const VERDICTS_OF_TEST_CASES = ["failed", "flaky", "stale", "skipped", "not_run", "passed"] as const

/** Return a page of requirements with their verdicts, and how many of all have which. */
export function readVerification(query: Record<string, unknown>, signal?: AbortSignal): Promise<VerificationReport> {
  const params = { query: { ...query, format: "json" } as never }
  return api.get("/api/v1/reports/verification", { params, signal }) as Promise<VerificationReport>
}

/** The figures of all requirements, and whether anything was executed at all. */
export const verificationSummary = queryOptions({
  queryKey: ["results", "verdicts", "summary"],
  queryFn: async ({ signal }) => {
    const { summary } = await readVerification({ limit: 1 }, signal)
    const { not_run: _, ...ran } = summary.test_cases
    return { ...summary, hasResults: Object.values(ran).some((count) => count > 0) }
  },
})

/** Return a page of test cases with their verdicts, those first whose last pass is longest ago. */
export function readTestCaseVerdicts(query: Record<string, unknown>, signal?: AbortSignal) {
  return api.get("/api/v1/reports/test-case-verdicts", { params: { query: query as never }, signal })
}

/** The verdict of a requirement. */
export const verdictOfRequirement = verdictBy("verdict", readVerification)
/** The verdict of a test case by itself. */
export const verdictOfTestCase = verdictBy("test_case_verdict", readTestCaseVerdicts)

type Told = { items: { id: string; verdict: Verdict }[] }

/** Return the query of the verdict of an item; those that are asked for in the same moment are read together. */
function verdictBy(name: string, read: (query: Record<string, unknown>) => Promise<Told>) {
  let waiting: { ids: string[]; answer: Promise<Told> } | undefined
  function together() {
    const ids: string[] = []
    const moment = new Promise((resolve) => setTimeout(resolve, TOGETHER_MS))
    const answer = moment.then(() => {
      waiting = undefined
      return read({ ids: ids.join(), limit: ids.length })
    })
    return { ids, answer }
  }
  return (id: string) =>
    queryOptions({
      queryKey: ["results", name, id],
      queryFn: async (): Promise<Verdict | null> => {
        waiting ??= together()
        waiting.ids.push(id)
        const { answer } = waiting
        return (await answer).items.find((one) => one.id === id)?.verdict ?? null
      },
    })
}
