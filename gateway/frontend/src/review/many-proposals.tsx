import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { api } from "../api/client"
import { sentenceOf } from "../api/sentence"
import { Choice } from "../kit/choice"
import { Field } from "../kit/field"
import { Ask, Refusal } from "../kit/form"
import { m } from "../messages"
import { words } from "./proposal-words"
import own from "./proposals.module.css"
import type { Proposal } from "./use-proposals"

const AT_ONCE = 100
/** More than an agent may have pending. */
const MOST = 500
const OF = ["batch", "agent"] as const
const ACTIONS = ["accept", "reject"] as const

type Props = {
  /** One of them: those of its agent, or of the same request. */
  proposal: Proposal
  close: () => void
  done: (ids: readonly string[], decision: "accepted" | "rejected", message: string) => void
}

/** Accept or reject all that an agent proposed, or proposed at once: exactly those that were counted. */
export function ManyProposals({ proposal, close, done }: Props) {
  const [of, setOf] = useState<(typeof OF)[number]>("batch")
  const [action, setAction] = useState<(typeof ACTIONS)[number]>("reject")
  const [feedback, setFeedback] = useState("")
  const { data, error, refetch } = useQuery({
    queryKey: ["proposals", "many", of, proposal.agent.id, proposal.batch],
    queryFn: ({ signal }) => idsOf(of === "batch" ? { batch: proposal.batch } : { agent: proposal.agent.id }, signal),
    staleTime: 0,
    gcTime: 0,
  })
  const count = data?.length ?? 0
  async function review() {
    const ids = data ?? []
    const reviewed: string[] = []
    try {
      for (let from = 0; from < ids.length; from += AT_ONCE) {
        const some = ids.slice(from, from + AT_ONCE)
        const said = feedback.trim() ? { feedback: feedback.trim() } : {}
        const body = { action, ids: some, expected_count: some.length, dry_run: false, ...said }
        const { items } = await api.post("/api/v1/proposals/bulk-review", { body })
        reviewed.push(...items.filter(({ code }) => !code).map(({ id }) => id))
      }
    } catch (refused) {
      await refetch()
      throw refused
    } finally {
      const decision = action === "accept" ? "accepted" : "rejected"
      if (reviewed.length > 0) done(reviewed, decision, words.manyDone[action](reviewed.length, ids.length))
    }
    close()
  }
  return (
    <Ask
      title={words.many}
      action={data ? words.manyActions[action](count) : m.review.acceptAbove.counting}
      isReady={count > 0}
      run={review}
      close={close}
      asks="never"
    >
      <Choice
        label={words.manyOf}
        value={of}
        options={OF.map((value) => ({ value, label: words.manyOfEach[value](proposal.agent.name) }))}
        onChange={setOf}
      />
      <Choice
        label={words.manyWhat}
        value={action}
        options={ACTIONS.map((value) => ({ value, label: words.manyWhats[value] }))}
        onChange={setAction}
      />
      <p className={own.count} role="status">
        {data ? words.manyCount(count) : m.review.acceptAbove.counting}
      </p>
      <Field label={m.review.noteLabel} hint={words.agentReads} lines={2} value={feedback} onChange={setFeedback} />
      {error && <Refusal>{sentenceOf(error)}</Refusal>}
    </Ask>
  )
}

async function idsOf(which: { batch: string } | { agent: string }, signal: AbortSignal): Promise<string[]> {
  const query = { status: ["pending" as const], ...which, fields: "id", limit: MOST }
  const { items } = await api.get("/api/v1/proposals", { params: { query }, signal })
  return items.map(({ id }) => id)
}
