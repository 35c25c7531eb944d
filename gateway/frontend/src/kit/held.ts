/**
 * Writes without a way back, held for as long as somebody may take them back; sent at once when the page is left.
 */
export class Held {
  readonly #ms: number
  readonly #waiting = new Map<string, { send: () => void; timer: ReturnType<typeof setTimeout> }>()

  constructor(ms: number) {
    this.#ms = ms
    addEventListener("pagehide", this.sendAll)
  }

  /** Send this in a while. */
  add(id: string, send: () => void): void {
    this.#waiting.set(id, { send, timer: setTimeout(() => this.#send(id), this.#ms) })
  }

  /** Take a write back; return whether there was still time. */
  takeBack(id: string): boolean {
    clearTimeout(this.#waiting.get(id)?.timer)
    return this.#waiting.delete(id)
  }

  sendAll = (): void => {
    for (const id of [...this.#waiting.keys()]) this.#send(id)
  }

  #send(id: string): void {
    const send = this.#waiting.get(id)?.send
    if (this.takeBack(id)) send?.()
  }
}
