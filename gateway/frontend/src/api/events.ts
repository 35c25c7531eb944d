import { useEffect, useRef } from "react"
import { addressed, projectKey } from "../projects/address"

/** What happened, as `GET /api/v1/events` tells it; `reconnected` and `reset` are of here: read again what may be old. */
export type LiveEvent =
  | { event: "unread"; data: { unread_count: number } }
  | { event: "suggestion.reviewed"; data: { suggestion_ids: string[]; status: string; by: string; at: string } }
  | { event: "proposal.changed"; data: { proposal_ids: string[]; status: string; by: string; at: string } }
  | {
      event: "item.changed"
      data: { resource_type: "requirement" | "test_case" | "link" | "relation"; ids: string[]; change: string }
    }
  | { event: "run.progress"; data: { run_id: string; status: string; progress: number | null } }
  | { event: "import.progress"; data: { import_id: string; status: string; progress: number } }
  | { event: "test_run.completed"; data: { run_id: string } }
  | { event: "coverage"; data: Record<string, unknown> }
  | { event: "reset" | "reconnected"; data: Record<string, never> }

type Told = { event: LiveEvent; id: string }

const STREAM = "/api/v1/events"
const KINDS = [
  "unread",
  "suggestion.reviewed",
  "proposal.changed",
  "item.changed",
  "run.progress",
  "import.progress",
  "test_run.completed",
  "coverage",
  "reset",
]
const NAME = "traceline-events"
/** The stream of this page's project, and what its tabs have in common. */
const channel = () => `${NAME} ${projectKey()}`
const WITHOUT_STREAM_MS = 30_000

const listeners = new Set<(event: LiveEvent) => void>()
let position = ""

/** Have `handler` told of what happens, while the calling part of the page is shown. */
export function useEvents(handler: (event: LiveEvent) => void): void {
  const latest = useRef(handler)
  latest.current = handler
  useEffect(() => {
    const listener = (event: LiveEvent) => latest.current(event)
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, [])
}

/**
 * Follow what happens until the function that is returned is called.
 *
 * A browser has six connections to a server, so that one tab follows for all: whoever holds the lock.
 */
export function followEvents(): () => void {
  const stop = new AbortController()
  const otherTabs = new BroadcastChannel(channel())
  otherTabs.onmessage = ({ data }: MessageEvent<Told>) => tell(data)
  function tellAll(told: Told) {
    tell(told)
    if (!stop.signal.aborted) otherTabs.postMessage(told)
  }
  // Over plain http, but to this machine, a page has no locks: each tab then asks by itself.
  if (navigator.locks) {
    const hold = () => stream(tellAll, stop.signal)
    navigator.locks.request(channel(), { signal: stop.signal }, hold).catch(() => undefined)
  } else {
    const polling = setInterval(() => tell({ event: { event: "reset", data: {} }, id: position }), WITHOUT_STREAM_MS)
    stop.signal.addEventListener("abort", () => clearInterval(polling))
  }
  return () => {
    stop.abort()
    otherTabs.close()
  }
}

function stream(tellAll: (told: Told) => void, signal: AbortSignal): Promise<void> {
  let source: EventSource
  let retry: ReturnType<typeof setTimeout>
  let isFirst = true
  function open() {
    source = new EventSource(addressed(position ? `${STREAM}?last_event_id=${position}` : STREAM))
    for (const kind of KINDS) {
      source.addEventListener(kind, ({ data, lastEventId }: MessageEvent<string>) =>
        tellAll({ event: { event: kind, data: JSON.parse(data) } as LiveEvent, id: lastEventId }),
      )
    }
    source.onopen = () => {
      if (!isFirst) tellAll({ event: { event: "reconnected", data: {} }, id: position })
      isFirst = false
    }
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) return // the browser comes back by itself
      tellAll({ event: { event: "reset", data: {} }, id: position })
      retry = setTimeout(open, WITHOUT_STREAM_MS)
    }
  }
  open()
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => {
      clearTimeout(retry)
      source.close()
      resolve()
    })
  })
}

function tell({ event, id }: Told): void {
  position = id
  for (const listener of listeners) listener(event)
}
