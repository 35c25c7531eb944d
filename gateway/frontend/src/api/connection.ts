import { onlineManager } from "@tanstack/react-query"
import { store } from "../store"

const LOOK_AGAIN_MS = 3000

const isAway = store(false)
const waiting: (() => void)[] = []
let nextLook: ReturnType<typeof setTimeout> | undefined

/** Return whether the server cannot be reached, as far as is known. */
export const useIsAway = isAway.use

/** Wait until the server can be reached, as far as is known. */
export async function whenReached(): Promise<void> {
  if (isAway.get()) await new Promise<void>((resolve) => waiting.push(resolve))
}

/** Note whether a request has reached the server; while none does, look for it. */
export function noteReached(isReached: boolean): void {
  clearTimeout(nextLook)
  if (!isReached) nextLook = setTimeout(look, LOOK_AGAIN_MS)
  isAway.set(!isReached)
  onlineManager.setOnline(isReached)
  if (isReached) for (const resume of waiting.splice(0)) resume()
}

async function look(): Promise<void> {
  try {
    noteReached((await fetch("/livez", { cache: "no-store" })).ok)
  } catch {
    noteReached(false)
  }
}

// Whether the browser has some network says less than a request does, other than that it has none.
onlineManager.setEventListener(() => undefined)
addEventListener("offline", () => noteReached(false))
addEventListener("online", () => void look())
