import { ApiProblem, UNREACHABLE } from "../api/problem"
import { isTemporary, waitBefore } from "../api/query-client"
import type { Decision, Pair } from "./queue"

/** What is told to the server about one pair. */
export type Write = {
  pair: Pair
  kind: "accept" | "reject" | "reopen"
  /** What `reopen` takes back, for when that is refused. */
  decision: Exclude<Decision, "skipped">
  linkType?: "covers" | "verifies" | "validates" | "related"
  feedback?: string
}
export type Report =
  | { outcome: "confirmed"; write: Write }
  | { outcome: "taken"; write: Write; problem: ApiProblem }
  | { outcome: "failed"; write: Write; problem: ApiProblem }

type Waiting = Write & { tries: number; isSending: boolean; notBefore: number }

const AT_ONCE = 4
const MOST_TRIES = 6
const LONGEST_WAIT_MS = 15_000
const MOST_UNCONFIRMED = 200

/**
 * What was decided and is not confirmed by the server: sent at once, in order, a pair never twice at a time.
 *
 * What fails for a while is tried again; while the server cannot be reached, without end.
 */
export class Outbox {
  readonly #send: (write: Write) => Promise<void>
  readonly #report: (report: Report) => void
  readonly #changed: () => void
  #waiting: Waiting[] = []

  /** `send` rejects with an ApiProblem; `report` is told what became of each write, `changed` when their number is another. */
  constructor(send: (write: Write) => Promise<void>, report: (report: Report) => void, changed: () => void) {
    this.#send = send
    this.#report = report
    this.#changed = changed
  }

  get unconfirmed(): readonly Write[] {
    return this.#waiting
  }

  /** What has never been on its way. */
  get unsent(): readonly Write[] {
    return this.#waiting.filter(({ isSending, tries }) => !isSending && tries === 0)
  }

  get isFull(): boolean {
    return this.#waiting.length >= MOST_UNCONFIRMED
  }

  /** Send a write as soon as what was said of its pair before is done; a decision that never left is taken back here. */
  add(write: Write): void {
    const before = this.#waiting.findLast(({ pair }) => pair.id === write.pair.id)
    if (write.kind === "reopen" && before && !before.isSending && before.tries === 0 && before.kind !== "reopen") {
      this.#remove(before)
      return
    }
    this.#waiting = [...this.#waiting, { ...write, tries: 0, isSending: false, notBefore: 0 }]
    this.#changed()
    // A request takes longer to begin than the next pair to be drawn.
    setTimeout(() => this.#pump())
  }

  /** Try at once what waits for its next try. */
  hurry(): void {
    for (const one of this.#waiting) one.notBefore = 0
    this.#pump()
  }

  #pump(): void {
    const busy = new Set<string>()
    let free = AT_ONCE - this.#waiting.filter(({ isSending }) => isSending).length
    for (const one of this.#waiting) {
      const isNext = !busy.has(one.pair.id)
      busy.add(one.pair.id)
      if (free > 0 && isNext && !one.isSending && one.notBefore <= Date.now()) {
        free--
        void this.#try(one)
      }
    }
  }

  async #try(one: Waiting): Promise<void> {
    one.isSending = true
    try {
      await this.#send(one)
      this.#end(one, { outcome: "confirmed", write: one })
    } catch (error) {
      this.#refused(one, error instanceof ApiProblem ? error : new ApiProblem(UNREACHABLE, {}))
    }
    this.#pump()
  }

  #refused(one: Waiting, problem: ApiProblem): void {
    const verdict = judge(one, problem)
    one.isSending = false
    one.tries++
    if (verdict === "later" && (one.tries < MOST_TRIES || problem.status === UNREACHABLE)) {
      const wait = Math.min(LONGEST_WAIT_MS, waitBefore(Math.min(one.tries - 1, 4), problem))
      one.notBefore = Date.now() + wait
      setTimeout(() => this.#pump(), wait)
      this.#changed()
    } else if (verdict === "done") {
      this.#end(one, { outcome: "confirmed", write: one })
    } else {
      this.#end(one, { outcome: verdict === "taken" ? "taken" : "failed", write: one, problem })
    }
  }

  #end(one: Waiting, report: Report): void {
    const later = this.#waiting.find((other) => other !== one && other.pair.id === one.pair.id)
    this.#remove(one)
    const isUndone = report.outcome !== "confirmed" && later?.kind === "reopen"
    // What was not decided here needs no undo: that would be of what somebody else decided.
    if (isUndone) this.#remove(later)
    if (!isUndone || report.outcome === "taken") this.#report(report)
  }

  #remove(one: Waiting): void {
    this.#waiting = this.#waiting.filter((other) => other !== one)
    this.#changed()
  }
}

/** Return what a refusal means: done already, taken by somebody else, to be tried later, or failed for good. */
export function judge(write: Write, problem: ApiProblem): "done" | "taken" | "later" | "failed" {
  if (isTemporary(problem)) return "later"
  const status = problem.body.suggestion_status
  const isBusy = status === "accepting" || status === "reopening"
  if (write.kind === "reopen") {
    if (problem.code !== "suggestion_not_reviewed") return "failed"
    return status === "pending" ? "done" : isBusy ? "later" : "failed"
  }
  if (problem.code === "link_exists" || problem.code === "suggestion_not_found") return "taken"
  if (problem.code !== "suggestion_not_pending") return "failed"
  return isBusy || status === "pending" ? "later" : "taken"
}
