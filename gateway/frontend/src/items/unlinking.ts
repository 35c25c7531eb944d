import { useSyncExternalStore } from "react"
import { toast } from "../kit/toast"
import { m } from "../messages"
import { deleteLink } from "./api"
import { sentenceOf } from "./fields"

const HELD_MS = 6500

// Deleting a link loses its source, its score and its age, which no later link has: so it waits as long as it can be
// taken back, and goes at once when the page is left.
const held = new Map<string, { timer: ReturnType<typeof setTimeout>; done: () => void }>()
const listeners = new Set<() => void>()
let ids: ReadonlySet<string> = new Set()

/** Unlink in a moment; until then it can be taken back, and the link is already not shown any more. */
export function unlink(id: string, done: () => void): void {
  held.set(id, { timer: setTimeout(() => void remove(id), HELD_MS), done })
  tell()
  toast(m.items.link.unlinked, { undo: () => keep(id) })
}

/** Return the links that are about to be deleted. */
export function useUnlinked(): ReadonlySet<string> {
  return useSyncExternalStore(subscribe, () => ids)
}

function keep(id: string): void {
  clearTimeout(held.get(id)?.timer)
  held.delete(id)
  tell()
}

async function remove(id: string): Promise<void> {
  const { done } = held.get(id) ?? {}
  try {
    await deleteLink(id)
  } catch (error) {
    toast(sentenceOf(error), { isError: true })
  }
  done?.()
  // The list is read anew by then: the link does not come up once more.
  setTimeout(() => keep(id), 1000)
}

function tell(): void {
  ids = new Set(held.keys())
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

addEventListener("pagehide", () => {
  for (const id of held.keys()) void fetch(`/api/v1/links/${id}`, { method: "DELETE", keepalive: true })
})
