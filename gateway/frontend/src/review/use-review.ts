import { useCallback, useEffect, useReducer, useRef, useState } from "react"
import { api } from "../api/client"
import { useEvents } from "../api/events"
import { ApiProblem } from "../api/problem"
import { queryClient } from "../api/query-client"
import { toast } from "../kit/toast"
import { m } from "../messages"
import { useUser } from "../session/session"
import { kept } from "../store"
import type { Filters } from "./filters"
import { nameOf } from "./names"
import type { Report, Write } from "./outbox"
import { prefetch, readReviewed, useList } from "./queries"
import { around, type Decision, EMPTY, idsOf, type Queue, reduce, type Step } from "./queue"
import { begin, isOwn, listen, outbox, tell } from "./sending"

const AHEAD = 10
const EVENTS_BEGIN_MS = 3000
const CLOCKS_DIFFER_MS = 60_000
const NEAR_THE_END = 40
const MOST_STEPS_KEPT = 200
const KEPT_STEPS = "traceline.review.steps"

export type LinkType = NonNullable<Write["linkType"]>

/** The queue of the one who is signed in: what is shown, and what can be done with it. */
export function useReview(filters: Filters) {
  const { email } = useUser()
  const list = JSON.stringify(filters)
  const [queue, dispatch] = useReducer(reduce, email, restored)
  const pages = useList(filters)
  const latest = useRef(queue)
  latest.current = queue
  const [takenLately, setTakenLately] = useState<Report[]>([])

  useKeptSteps(latest, email)

  const latestCatchUp = useRef(() => undefined as unknown)
  const loadedAt = useRef(new Date())
  const seen = useRef<{ first: unknown; count: number }>({ first: undefined, count: 0 })
  useEffect(() => {
    const all = pages.data?.pages ?? []
    const [first] = all
    if (!first) return
    const isNew = seen.current.first !== first
    if (isNew) {
      dispatch({ type: "started", list, pairs: first.pairs, total: first.total, ofAll: first.ofAll })
      dispatch({ type: "returned", pairs: lastWrites().flatMap(({ kind, pair }) => (kind === "reopen" ? [pair] : [])) })
    }
    for (const page of all.slice(isNew ? 1 : seen.current.count)) {
      dispatch({ type: "continued", list, pairs: page.pairs })
    }
    seen.current = { first, count: all.length }
  }, [pages.data, list])

  const firstPage = pages.data?.pages[0]
  useEffect(() => {
    if (!firstPage) return
    loadedAt.current = new Date()
    // The events may begin a moment after the list was read.
    const timer = setTimeout(() => latestCatchUp.current(), EVENTS_BEGIN_MS)
    return () => clearTimeout(timer)
  }, [firstPage])

  const { index, next } = around(queue, AHEAD)
  const ahead = next.map(({ id }) => id).join()
  useEffect(() => prefetch(ahead ? ahead.split(",") : []), [ahead])

  const { fetchNextPage, hasNextPage, isFetching } = pages
  const isNearTheEnd = index > queue.shown.length - NEAR_THE_END || queue.shown.length === 0
  const more = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage()
  }, [hasNextPage, isFetching, fetchNextPage])
  useEffect(() => {
    if (isNearTheEnd) more()
  }, [isNearTheEnd, more])

  useEffect(() => listen(hear), [])
  function hear(report: Report): void {
    const { pair, decision, kind } = report.write
    if (report.outcome === "taken") {
      const { suggestion_status: status, reviewed_by: by, reviewed_at: at } = report.problem.body
      const taken = { status: String(status), by: (by as string) ?? null, at: (at as string) ?? null }
      dispatch({ type: "taken", ids: idsOf(pair), by: taken, mine: true })
      setTakenLately((before) => [...before, report])
    } else if (report.outcome === "failed" && kind === "reopen") {
      dispatch({ type: "undo-failed", pair, decision, at: Date.now() })
      toast(m.review.undoFailed(report.problem.message), { isError: true })
    } else if (report.outcome === "failed") {
      dispatch({ type: "failed", id: pair.id, message: report.problem.message })
      toast(m.review.notSaved(nameOf(pair), report.problem.message), { isError: true })
    }
  }

  const others = (ids: readonly string[], status: string, by: string | null, at: string | null) => {
    const news = by === email ? ids.filter((id) => !isOwn(id)) : ids
    if (news.length === 0) return
    if (status === "pending") dispatch({ type: "reopened", ids: news })
    else dispatch({ type: "taken", ids: news, by: { status, by, at } })
  }
  useEvents(({ event, data }) => {
    if (event === "suggestion.reviewed") others(data.suggestion_ids, data.status, data.by, data.at)
    else if (event === "run.progress") void queryClient.invalidateQueries({ queryKey: ["review", "run"] })
    else if (event === "reset" || event === "reconnected") void catchUp()
  })
  latestCatchUp.current = catchUp
  async function catchUp(): Promise<void> {
    const since = new Date(loadedAt.current.getTime() - CLOCKS_DIFFER_MS)
    for (const one of await readReviewed(since)) others([one.id], one.status, one.reviewed_by, one.reviewed_at)
  }

  const lookAgain = useCallback(() => void queryClient.invalidateQueries({ queryKey: ["review", "list"] }), [])
  const reload = useCallback(() => void queryClient.resetQueries({ queryKey: ["review", "list"] }), [])

  function decide(decision: Decision, how: { linkType?: LinkType; feedback?: string } = {}): void {
    const { pair } = around(latest.current, 0)
    if (!pair) return
    const isTaken = latest.current.taken.has(pair.id)
    if (!isTaken && decision !== "skipped") {
      const kind = decision === "accepted" ? "accept" : "reject"
      if (!tell({ pair, kind, decision, ...how })) {
        toast(m.review.tooManyUnsent, { isError: true })
        return
      }
    }
    dispatch({ type: "decided", id: pair.id, decision, at: Date.now() })
    if (!isTaken) toast(m.review.done[decision](nameOf(pair)), { undo })
  }

  function undo(): void {
    const step = latest.current.steps.at(-1)
    if (!step) {
      toast(m.review.nothingToUndo)
      return
    }
    if (step.kind === "many") {
      void undoMany(step)
      return
    }
    if (step.decision !== "skipped") tell({ pair: step.pair, kind: "reopen", decision: step.decision })
    dispatch({ type: "undone" })
    toast(m.review.undone(nameOf(step.pair)))
  }

  async function undoMany({ reviewId }: Step & { kind: "many" }): Promise<void> {
    try {
      const path = { review_id: reviewId }
      const answer = await api.post("/api/v1/suggestions/reviews/{review_id}/undo", { params: { path } })
      dispatch({ type: "undone" })
      toast(answer.message, { isError: answer.failed > 0 })
      reload()
    } catch (error) {
      toast(m.review.undoFailed(error instanceof ApiProblem ? error.message : ""), { isError: true })
    }
  }

  function decidedMany(decision: Decision, reviewId: string, count: number, message: string): void {
    dispatch({ type: "decided-many", decision, reviewId, count, at: Date.now() })
    toast(message, { undo })
    reload()
  }

  return {
    queue,
    dispatch,
    isLoaded: queue.list === list,
    hasMore: hasNextPage,
    error: pages.error,
    retry: () => void pages.refetch(),
    more,
    reload,
    lookAgain,
    /** When the list was read last. */
    listedAt: pages.dataUpdatedAt,
    decide,
    decidedMany,
    undo,
    takenLately,
    forgetTaken: () => setTakenLately([]),
  }
}

/** Return the last that was written of each pair and is not confirmed. */
function lastWrites(): Write[] {
  return [...new Map(outbox.unconfirmed.map((write) => [write.pair.id, write])).values()]
}

/** Keep what can be undone while the page is reloaded or another screen is open. */
function useKeptSteps(queue: { current: Queue }, email: string): void {
  useEffect(() => {
    function keep() {
      const { steps, done } = queue.current
      sessionStorage.setItem(KEPT_STEPS, JSON.stringify({ email, done, steps: steps.slice(-MOST_STEPS_KEPT) }))
    }
    addEventListener("pagehide", keep)
    return () => {
      removeEventListener("pagehide", keep)
      keep()
    }
  }, [queue, email])
}

/** Return an empty queue that knows what was decided before: in this tab, or in one that was closed too early. */
function restored(email: string): Queue {
  begin(email)
  const out = new Map<string, Decision>()
  for (const { kind, pair, decision } of lastWrites()) {
    if (kind !== "reopen") for (const id of idsOf(pair)) out.set(id, decision)
  }
  const before = kept<{ email: string; steps: Step[]; done: number } | null>(KEPT_STEPS, null, sessionStorage)
  if (before?.email !== email) return { ...EMPTY, out }
  for (const step of before.steps) {
    if (step.kind === "one" && step.decision === "skipped") for (const id of idsOf(step.pair)) out.set(id, "skipped")
  }
  return { ...EMPTY, out, steps: before.steps, done: before.done }
}
