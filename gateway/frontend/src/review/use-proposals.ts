import { useQueryClient } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import { api } from "../api/client"
import { ApiProblem } from "../api/problem"
import type { components } from "../api/schema"
import { useEndless } from "../kit/endless"
import { toast } from "../kit/toast"
import { m } from "../messages"
import { AGENTS } from "./from"
import { words } from "./proposal-words"
import type { Decision } from "./queue"

export type Proposal = components["schemas"]["Proposal"]
type Step = { proposal: Proposal; decision: Decision }

const PAGE = 50
/** So many before the last that is loaded, more are. */
const AHEAD = 10
const KEY = ["proposals"]

/** The proposals of an agent, or of all, that wait for a decision, and what can be done with them. */
export function useProposals(from: string) {
  const queries = useQueryClient()
  const { rows, page, hasMore, more, query } = useEndless([...KEY, "pending", from], ({ after }, signal) =>
    api.get("/api/v1/proposals", {
      params: {
        query: {
          status: ["pending"],
          ...(from !== AGENTS && { agent: from }),
          ...(after && { after }),
          limit: PAGE,
          expand: "texts,diff",
        },
      },
      signal,
    }),
  )
  const [out, setOut] = useState<ReadonlySet<string>>(new Set())
  const [steps, setSteps] = useState<readonly Step[]>([])
  const [chosen, choose] = useState<string>()
  const all = (rows ?? []).filter(({ id }) => !out.has(id))
  // What several agents propose of one pair is one entry: it is decided once.
  const waiting = all.filter((one, at) => all.findIndex((other) => pairOf(other) === pairOf(one)) === at)
  const index = Math.max(
    0,
    waiting.findIndex(({ id }) => id === chosen),
  )
  const current = waiting[index]
  const isNearEnd = rows !== undefined && index >= waiting.length - AHEAD
  useEffect(() => {
    if (isNearEnd && hasMore) more()
  }, [isNearEnd, hasMore, more])

  function take(ids: readonly string[], isOut: boolean) {
    setOut((before) => new Set(isOut ? [...before, ...ids] : [...before].filter((one) => !ids.includes(one))))
  }

  async function decide(decision: Decision, feedback?: string): Promise<void> {
    if (!current) return
    const { id } = current
    const outside = all.filter((one) => pairOf(one) === pairOf(current)).map((one) => one.id)
    choose(waiting[index + 1]?.id ?? waiting[index - 1]?.id)
    take(outside, true)
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
      take(outside, false)
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
    take(
      (rows ?? []).filter((one) => pairOf(one) === pairOf(step.proposal)).map((one) => one.id),
      false,
    )
    take([id], false)
    choose(id)
    toast(m.review.undone(titleOf(step.proposal)))
  }

  /** Take out what was reviewed at once; each can be undone by itself. */
  async function decidedMany(ids: readonly string[], decision: Decision, message: string): Promise<void> {
    const reviewed = (rows ?? []).filter(({ id }) => ids.includes(id))
    setSteps((before) => [...before, ...reviewed.map((proposal) => ({ proposal, decision }))])
    toast(message)
    await queries.invalidateQueries({ queryKey: KEY })
  }

  function undo(): void {
    const last = steps.at(-1)
    if (last) void undoOf(last)
    else toast(m.review.nothingToUndo)
  }

  const skipped = new Set(
    steps.filter(({ decision }) => decision === "skipped").map(({ proposal }) => pairOf(proposal)),
  )
  return {
    query,
    waiting,
    /** How many wait, those that are not loaded among them. */
    left: (page?.total ?? 0) - ((rows?.length ?? 0) - waiting.length),
    /** What else is proposed of the same pair. */
    others: current ? all.filter((one) => one !== current && pairOf(one) === pairOf(current)) : [],
    hasMore,
    skipped: skipped.size,
    showSkipped: () => {
      setSteps((before) => before.filter(({ decision }) => decision !== "skipped"))
      take(
        (rows ?? []).filter((one) => skipped.has(pairOf(one))).map((one) => one.id),
        false,
      )
    },
    current,
    index,
    canUndo: steps.length > 0,
    choose,
    move: (by: number) => choose(waiting[Math.min(Math.max(index + by, 0), waiting.length - 1)]?.id),
    decide,
    decidedMany,
    undo,
  }
}

/** Return what a proposal is an entry of: of a link, its pair. */
function pairOf({ id, kind, requirement_id: requirement, test_case_id: testCase }: Proposal): string {
  return kind === "link" ? `${requirement} ${testCase}` : id
}

/** Return what is proposed in a few words. */
export function titleOf({ kind, requirement, parent, test_case: testCase, body }: Proposal): string {
  const name = (item: { external_id: string | null; title: string } | null) => item?.external_id ?? item?.title
  if (kind === "requirement" || kind === "test_case") return String(body.title ?? words.kinds[kind])
  const ends = [name(requirement), name(testCase)].filter((end) => end !== undefined)
  if (kind === "relation") return [...ends, ...(parent ? [name(parent)] : [])].join(" → ")
  return ends.join(" ↔ ") || words.kinds[kind]
}

function reasonOf(error: unknown): string {
  return error instanceof ApiProblem ? error.message : ""
}
