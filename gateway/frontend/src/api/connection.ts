import { onlineManager } from "@tanstack/react-query"
import { useSyncExternalStore } from "react"

const LOOK_AGAIN_MS = 3000

let isAway = false
let nextLook: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()

/** Return whether the server cannot be reached, as far as is known. */
export function useIsAway(): boolean {
  return useSyncExternalStore(subscribe, () => isAway)
}

/** Note whether a request has reached the server; while none does, look for it and hold back what changes something. */
export function noteReached(isReached: boolean): void {
  clearTimeout(nextLook)
  if (!isReached) nextLook = setTimeout(look, LOOK_AGAIN_MS)
  if (isAway === !isReached) return
  isAway = !isReached
  onlineManager.setOnline(isReached)
  for (const listener of listeners) listener()
}

async function look(): Promise<void> {
  try {
    noteReached((await fetch("/livez", { cache: "no-store" })).ok)
  } catch {
    noteReached(false)
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

// Whether the browser has some network says less than a request does, other than that it has none.
onlineManager.setEventListener(() => undefined)
addEventListener("offline", () => noteReached(false))
addEventListener("online", () => void look())
