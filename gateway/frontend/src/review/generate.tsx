import { queryOptions, useQuery } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "react"
import { api } from "../api/client"
import { queryClient } from "../api/query-client"
import type { components } from "../api/schema"
import { Button } from "../kit/button"
import { Choice } from "../kit/choice"
import { Ask } from "../kit/form"
import { complain } from "../kit/toast"
import { formatShare, m } from "../messages"
import css from "./generate.module.css"

type Run = components["schemas"]["Run"]
type Algorithm = components["schemas"]["AlgorithmName"]

const EACH_MS = 1000
const ALGORITHMS: Algorithm[] = ["hybrid", "tfidf", "keyword"]
// Beside the screen and not in it: the query outlives the screen, and would keep all that its function can see.
const lastRun = queryOptions({
  queryKey: ["review", "run"],
  queryFn: async ({ signal }) => {
    const runs = await api.get("/api/v1/suggestions/runs", { params: { query: { limit: 1 } }, signal })
    return runs.items[0] ?? null
  },
  refetchInterval: ({ state }) => (isGoingOn(state.data ?? undefined) ? EACH_MS : false),
})

/** The newest run: asked for each second while it goes on, told by `ended` when it no longer does. */
export function useLastRun(ended: () => void): Run | undefined {
  const { data: run } = useQuery(lastRun)
  const wasGoingOn = useRef(false)
  const goesOn = isGoingOn(run ?? undefined)
  useEffect(() => {
    if (wasGoingOn.current && !goesOn) ended()
    wasGoingOn.current = goesOn
  }, [goesOn, ended])
  return run ?? undefined
}

export function isGoingOn(run: Run | undefined): boolean {
  return run?.status === "queued" || run?.status === "running"
}

/** Choose how pairs are found, and start. */
export function GenerateDialog({ close }: { close: () => void }) {
  const [algorithm, setAlgorithm] = useState<Algorithm>("hybrid")
  const words = m.review.generate
  async function start() {
    const params = { query: { algorithm }, header: { Prefer: "respond-async" } }
    queryClient.setQueryData(lastRun.queryKey, await api.post("/api/v1/suggestions/generate", { params }))
    void queryClient.invalidateQueries({ queryKey: lastRun.queryKey })
    close()
  }
  return (
    <Ask title={words.title} action={words.start} run={start} close={close}>
      <p>{words.hint}</p>
      <Choice
        label={words.algorithm}
        value={algorithm}
        options={ALGORITHMS.map((value) => ({ value, label: words.algorithms[value] }))}
        onChange={setAlgorithm}
      />
      <p className={css.hint}>{words.hints[algorithm]}</p>
    </Ask>
  )
}

/** How far a run is, and at its end what came of it. */
export function RunStrip({ run, mayCancel, close }: { run: Run; mayCancel: boolean; close: () => void }) {
  async function cancel() {
    const params = { path: { run_id: run.id } }
    queryClient.setQueryData(lastRun.queryKey, await api.post("/api/v1/suggestions/runs/{run_id}/cancel", { params }))
  }
  const goesOn = isGoingOn(run)
  return (
    <div className={css.strip} role="status">
      <span>{sentenceOf(run)}</span>
      {goesOn && <progress max={1} value={run.progress} aria-label={m.review.generate.progress} />}
      {goesOn && mayCancel && (
        <Button look="quiet" onPress={() => void cancel().catch(complain)}>
          {m.review.generate.cancel}
        </Button>
      )}
      {!goesOn && (
        <Button look="quiet" onPress={close}>
          {m.common.close}
        </Button>
      )}
    </div>
  )
}

function sentenceOf(run: Run): string {
  const { generate } = m.review
  const counts = [run.suggestions_created, run.suggestions_updated, run.suggestions_withdrawn] as const
  if (run.status === "queued") return generate.queued
  if (run.status === "running") return generate.running(formatShare(run.progress), secondsLeft(run, Date.now()))
  if (run.status === "failed") return generate.failed(run.error ?? "")
  return run.status === "cancelled" ? generate.cancelled(...counts) : generate.completed(...counts)
}

/** Return how long a run takes from now on, if it goes on as it did. */
function secondsLeft({ progress, started_at: startedAt }: Run, now: number): number | undefined {
  if (!startedAt || progress < 0.05) return undefined
  return Math.ceil((((now - Date.parse(startedAt)) / 1000) * (1 - progress)) / progress)
}
