import { api } from "../api/client"
import { unwrap } from "../api/problem"

const HELD_MS = 5000

type Confirmation = { id: string; etag: string; failed: (error: unknown) => void; timer: ReturnType<typeof setTimeout> }

/**
 * Confirmations that were decided and can still be taken back: the API has no way back from one, so that each is held
 * for a few seconds, and sent at once when the screen or the page is left.
 */
export class Confirmations {
  #held = new Map<string, Confirmation>()

  constructor() {
    addEventListener("pagehide", this.#sendAll)
  }

  /** Confirm a link as it was looked at, a little later. */
  add(id: string, etag: string, failed: (error: unknown) => void): void {
    this.#held.set(id, { id, etag, failed, timer: setTimeout(() => this.#send(id), HELD_MS) })
  }

  /** Take a confirmation back; return whether there was still time. */
  takeBack(id: string): boolean {
    clearTimeout(this.#held.get(id)?.timer)
    return this.#held.delete(id)
  }

  /** Send what is held, and hold nothing any more. */
  end(): void {
    removeEventListener("pagehide", this.#sendAll)
    this.#sendAll()
  }

  #sendAll = (): void => {
    for (const id of [...this.#held.keys()]) this.#send(id)
  }

  #send(id: string): void {
    const held = this.#held.get(id)
    if (!held) return
    this.#held.delete(id)
    clearTimeout(held.timer)
    confirm(id, held.etag).catch(held.failed)
  }
}

/** Confirm a link if it is as it was looked at; throw the ApiProblem when not. */
export async function confirm(id: string, etag: string): Promise<void> {
  await unwrap(
    api.POST("/api/v1/links/{link_id}/confirm", {
      params: { path: { link_id: id } },
      headers: { "if-match": etag },
      keepalive: true,
    }),
  )
}
