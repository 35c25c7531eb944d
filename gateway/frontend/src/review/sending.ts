import { api } from "../api/client"
import { ApiProblem } from "../api/problem"
import { toast } from "../kit/toast"
import { m } from "../messages"
import { kept as inBrowser, store } from "../store"
import { nameOf } from "./names"
import { Outbox, type Report, type Write } from "./outbox"

const KEPT = "traceline.review.unconfirmed"
const PATIENCE_MS = 30_000

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
  touched.add(write.pair.id)
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

/** Send a write so that it arrives although the page may go. */
function post({ pair, kind, linkType, feedback }: Write): Promise<unknown> {
  const params = { path: { suggestion_id: pair.id } }
  const init = { params, keepalive: true, signal: AbortSignal.timeout(PATIENCE_MS) }
  if (kind === "reopen") return api.post("/api/v1/suggestions/{suggestion_id}/reopen", init)
  if (kind === "reject") {
    const body = feedback ? { body: { feedback } } : {}
    return api.post("/api/v1/suggestions/{suggestion_id}/reject", { ...init, ...body })
  }
  const body = { ...(feedback && { feedback }), link_type: linkType ?? "covers" }
  return api.post("/api/v1/suggestions/{suggestion_id}/accept", { ...init, body })
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
