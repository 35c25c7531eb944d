import { type Query, useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef } from "react"
import { readSession } from "../session/session"
import { followEvents, type LiveEvent, useEvents } from "./events"

const TOGETHER_MS = 1000

/** What each kind of event makes old: the first member of the keys of queries, which is the resource they read. */
const RESOURCES = {
  requirement: ["requirements", "reports", "results", "looking"],
  test_case: ["test-cases", "reports", "results", "looking"],
  link: ["links", "requirements", "test-cases", "reports", "results"],
  relation: ["relations", "requirements", "reports", "results"],
}
const IMPORTED = [
  "imports",
  "looking",
  "requirements",
  "test-cases",
  "links",
  "relations",
  "reports",
  "activity",
  "history",
]
const ALL = "*"

/** Keep what the page shows true while others work; a query with `meta: { live: false }` sees to that itself. */
export function useLiveData(): void {
  const client = useQueryClient()
  const old = useRef(new Set<string>())
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => followEvents(), [])
  useEffect(() => () => clearTimeout(timer.current), [])
  useEvents((event) => {
    if (event.event === "unread") client.setQueryData(["notifications", "unread"], event.data)
    // A stream ends when the role changes, too.
    if (event.event === "reconnected") {
      void readSession()
      void client.invalidateQueries({ queryKey: ["projects"] })
    }
    for (const resource of madeOld(event)) old.current.add(resource)
    if (old.current.size === 0) return
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      const resources = new Set(old.current)
      old.current.clear()
      const isOld = ({ queryKey: [resource], meta }: Query) =>
        meta?.live !== false && (resources.has(ALL) || resources.has(String(resource)))
      void client.invalidateQueries({ predicate: isOld })
    }, TOGETHER_MS)
  })
}

function madeOld(event: LiveEvent): string[] {
  switch (event.event) {
    case "item.changed":
      return [...RESOURCES[event.data.resource_type], "activity", "history"]
    case "suggestion.reviewed":
      return ["suggestions", "activity", "reports"]
    case "proposal.changed":
      return ["proposals", "suggestions", "agents", "activity"]
    case "run.progress":
      return event.data.status === "running" || event.data.status === "queued"
        ? ["runs", "looking"]
        : ["runs", "looking", "suggestions"]
    case "import.progress":
      return event.data.status === "applied" ? IMPORTED : ["imports"]
    case "test_run.completed":
      return ["results", "reports", "activity"]
    case "unread":
      return ["notifications"]
    case "coverage":
      return ["reports"]
    case "reset":
      return [ALL]
    case "reconnected":
      return []
  }
}
