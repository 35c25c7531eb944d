import { api } from "../api/client"
import { ApiProblem } from "../api/problem"
import type { components } from "../api/schema"
import { toast } from "../kit/toast"
import { m } from "../messages"
import { kept as inBrowser, store } from "../store"
import { nameOf } from "./names"
import { Outbox, type Report, type Write } from "./outbox"
import { idsOf, type Pair } from "./queue"

const KEPT = "traceline.review.unconfirmed"
const PATIENCE_MS = 30_000

type Result = components["schemas"]["ReviewResult"]
type Kept = { user: string; write: Write }

let user = ""
let listener: ((report: Report) => void) | undefined
/** What the server has not confirmed yet. */
const unconfirmed = store<readonly Write[]>([])
/** What this tab has told the server about: news of it by others' eyes is no news. */
const touched = new Set<string>()

export const outbox = new Outbox(send, report, () => unconfirmed.set([...outbox.unconfirmed]))
export const useUnconfirmed = unconfirmed.use

/** Tell the server about a pair; false while too much waits for it already. */
export function tell(write: Write): boolean {
  if (outbox.isFull) return false
  for (const id of idsOf(write.pair)) touched.add(id)
  outbox.add(write)
  return true
}

/** Check whether this tab has decided on a pair. */
export const isOwn = (id: string): boolean => touched.has(id)

/** Have reports come here instead of to a toast; returns how to end that. */
export function listen(next: (report: Report) => void): () => void {
  listener = next
  return () => {
    if (listener === next) listener = undefined
  }
}

/** Begin for the one who is signed in, with what a closed tab of theirs has left. */
export function begin(email: string): void {
  user = email
  const kept = read()
  const mine = kept.filter((one) => one.user === email)
  if (mine.length === 0) return
  keep(kept.filter((one) => one.user !== email))
  for (const { write } of mine) tell(write)
}

async function send(write: Write): Promise<void> {
  try {
    await post(write)
  } catch (error) {
    // The answer to an earlier try was lost on its way: what was decided stands.
    const isMine = error instanceof ApiProblem && error.body.reviewed_by === user
    if (isMine && write.kind !== "reopen" && error.body.suggestion_status === write.decision) return
    throw error
  }
}

/** Return what a request needs to arrive although the page may go. */
const lasting = () => ({ keepalive: true, signal: AbortSignal.timeout(PATIENCE_MS) })

/** Send a write. */
function post(write: Write): Promise<unknown> {
  const { pair, kind, linkType, feedback } = write
  if (pair.variants?.length) return kind === "reopen" ? undoGroup(pair) : reviewGroup(write)
  const params = { path: { suggestion_id: pair.id } }
  const init = { params, ...lasting() }
  if (kind === "reopen") return api.post("/api/v1/suggestions/{suggestion_id}/reopen", init)
  if (kind === "reject") {
    const body = feedback ? { body: { feedback } } : {}
    return api.post("/api/v1/suggestions/{suggestion_id}/reject", { ...init, ...body })
  }
  const body = { ...(feedback && { feedback }), link_type: linkType ?? "covers" }
  return api.post("/api/v1/suggestions/{suggestion_id}/accept", { ...init, body })
}

/** Review a pair with its variants by one request. */
async function reviewGroup({ pair, kind, decision, linkType, feedback }: Write): Promise<void> {
  const action = kind === "accept" ? ("accept" as const) : ("reject" as const)
  const how = { ...(feedback && { feedback }), ...(kind === "accept" && { link_type: linkType ?? "covers" }) }
  const answer = await api.post("/api/v1/suggestions/bulk-review", {
    body: { action, ids: idsOf(pair), ...how },
    ...lasting(),
  })
  // As with a single pair: the answer to an earlier try may have been lost on its way.
  const isDone = (one: Result) => one.reviewed_by === user && one.suggestion_status === decision
  settle(pair, answer.items as Result[], isDone)
}

/** Undo the review of a pair with its variants, as a whole. */
async function undoGroup(pair: Pair): Promise<void> {
  const query = { ids: idsOf(pair).join() }
  const { items } = await api.get("/api/v1/suggestions", { params: { query }, ...lasting() })
  const review = items.find((one) => one.reviewed_by === user)?.review_id
  if (review) {
    const params = { path: { review_id: review } }
    const answer = await api.post("/api/v1/suggestions/reviews/{review_id}/undo", { params, ...lasting() })
    settle(pair, answer.items)
  } else {
    const params = { path: { suggestion_id: pair.id } }
    await api.post("/api/v1/suggestions/{suggestion_id}/reopen", { params, ...lasting() })
  }
}

/** Fail as a single pair would when nothing was done; say so when some of it was not. */
function settle(pair: Pair, results: readonly Result[], isDone = (_: Result) => false): void {
  const failed = results.filter((one) => one.status === "error" && !isDone(one))
  const [first] = failed
  if (!first) return
  if (failed.length === results.length) throw new ApiProblem(409, { ...first })
  toast(m.review.notAll(nameOf(pair), failed.length, first.detail ?? ""), { isError: true })
}

function report(one: Report): void {
  if (listener) listener(one)
  else if (one.outcome !== "confirmed")
    toast(m.review.notSaved(nameOf(one.write.pair), one.problem.message), { isError: true })
}

const read = (): Kept[] => inBrowser<Kept[]>(KEPT, [])

function keep(kept: Kept[]): void {
  if (kept.length === 0) localStorage.removeItem(KEPT)
  else localStorage.setItem(KEPT, JSON.stringify(kept))
}

addEventListener("online", () => outbox.hurry())
addEventListener("pagehide", () => {
  if (outbox.unconfirmed.length === 0) return
  keep([...read(), ...outbox.unconfirmed.map((write) => ({ user, write }))])
  for (const write of outbox.unsent) post(write).catch(() => undefined)
})
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) keep(read().filter((one) => one.user !== user))
})
