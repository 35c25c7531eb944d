import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { api } from "../api/client"
import { ApiProblem } from "../api/problem"
import type { components } from "../api/schema"
import { toast } from "../kit/toast"
import { m } from "../messages"
import { AGENTS } from "./from"
import { words } from "./proposal-words"
import type { Decision } from "./queue"

export type Proposal = components["schemas"]["Proposal"]
type Step = { proposal: Proposal; decision: Decision }

const MOST = 100
const KEY = ["proposals"]

/** The proposals of an agent, or of all, that wait for a decision, and what can be done with them. */
export function useProposals(from: string) {
  const queries = useQueryClient()
  const list = useQuery({
    queryKey: [...KEY, "pending", from],
    queryFn: ({ signal }) =>
      api.get("/api/v1/proposals", {
        params: {
          query: { status: ["pending"], ...(from !== AGENTS && { agent: from }), limit: MOST, expand: "texts,diff" },
        },
        signal,
      }),
  })
  const [out, setOut] = useState<ReadonlySet<string>>(new Set())
  const [steps, setSteps] = useState<readonly Step[]>([])
  const [chosen, choose] = useState<string>()
  const waiting = (list.data?.items ?? []).filter(({ id }) => !out.has(id))
  const index = Math.max(
    0,
    waiting.findIndex(({ id }) => id === chosen),
  )
  const current = waiting[index]

  function take(id: string, isOut: boolean) {
    setOut((before) => new Set(isOut ? [...before, id] : [...before].filter((one) => one !== id)))
  }

  async function decide(decision: Decision, feedback?: string): Promise<void> {
    if (!current) return
    const { id } = current
    choose(waiting[index + 1]?.id ?? waiting[index - 1]?.id)
    take(id, true)
    setSteps((before) => [...before, { proposal: current, decision }])
    toast(m.review.done[decision](titleOf(current)), { undo: () => void undoOf({ proposal: current, decision }) })
    if (decision === "skipped") return
    const said = { params: { path: { proposal_id: id } }, body: feedback ? { feedback } : {} }
    try {
      await (decision === "accepted"
        ? api.post("/api/v1/proposals/{proposal_id}/accept", said)
        : api.post("/api/v1/proposals/{proposal_id}/reject", said))
    } catch (error) {
      setSteps((before) => before.filter((step) => step.proposal.id !== id))
      take(id, false)
      toast(m.review.notSaved(titleOf(current), reasonOf(error)), { isError: true })
    }
    await queries.invalidateQueries({ queryKey: KEY })
  }

  async function undoOf(step: Step): Promise<void> {
    const { id } = step.proposal
    try {
      if (step.decision !== "skipped") {
        await api.post("/api/v1/proposals/{proposal_id}/reopen", { params: { path: { proposal_id: id } } })
      }
    } catch (error) {
      toast(m.review.undoFailed(reasonOf(error)), { isError: true })
      return
    }
    setSteps((before) => before.filter((one) => one.proposal.id !== id))
    await queries.invalidateQueries({ queryKey: KEY })
    take(id, false)
    choose(id)
    toast(m.review.undone(titleOf(step.proposal)))
  }

  function undo(): void {
    const last = steps.at(-1)
    if (last) void undoOf(last)
    else toast(m.review.nothingToUndo)
  }

  return {
    list,
    waiting,
    current,
    index,
    canUndo: steps.length > 0,
    choose,
    move: (by: number) => choose(waiting[Math.min(Math.max(index + by, 0), waiting.length - 1)]?.id),
    decide,
    undo,
  }
}

/** Return what is proposed in a few words. */
export function titleOf({ kind, requirement, test_case: testCase, body, target }: Proposal): string {
  const name = (item: { external_id: string | null; title: string } | null) => item?.external_id ?? item?.title
  if (kind === "requirement" || kind === "test_case") return String(body.title ?? words.kinds[kind])
  const ends = [name(requirement), name(testCase)].filter((end) => end !== undefined)
  if (kind === "relation") return [ends[0] ?? target.child, target.parent].join(" → ")
  return ends.join(" ↔ ") || words.kinds[kind]
}

function reasonOf(error: unknown): string {
  return error instanceof ApiProblem ? error.message : ""
}
