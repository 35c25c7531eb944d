import { formatCount, m } from "../messages"
import { useMay, useUser } from "../session/session"
import { useCounts } from "./counts"

export type Place = { path: string; label: string; key: string; count?: { shown: string; read: string } }

/** Return where one can go: the screens in the navigation, with the key after `g`, and how much waits there. */
export function usePlaces(): Place[] {
  const isAdmin = useUser().role === "admin"
  const isAdminHere = useMay("admin")
  const mayImport = useMay("reviewer")
  const counts = useCounts()
  function countOf(what: keyof typeof counts) {
    const count = counts[what]
    if (!count) return undefined
    return { shown: formatCount(count), read: m.shell.counts[what](formatCount(count)) }
  }
  const places: Place[] = [
    { path: "/", label: m.shell.dashboard, key: "d" },
    { path: "/review", label: m.shell.review, key: "v", count: countOf("review") },
    { path: "/matrix", label: m.shell.matrix, key: "m" },
    { path: "/requirements", label: m.shell.requirements, key: "r" },
    { path: "/tree", label: m.shell.tree, key: "h" },
    { path: "/test-cases", label: m.shell.testCases, key: "t" },
    { path: "/results", label: m.shell.results, key: "u" },
    ...(mayImport ? [{ path: "/imports", label: m.exchange.imports, key: "i" }] : []),
    { path: "/exports", label: m.exchange.exports, key: "e" },
    { path: "/suspect", label: m.shell.suspect, key: "s", count: countOf("suspect") },
    { path: "/notifications", label: m.shell.notifications, key: "n", count: countOf("notifications") },
  ]
  return [
    ...places,
    ...(isAdmin ? [{ path: "/admin/users", label: m.shell.users, key: "a" }] : []),
    ...(isAdminHere ? [{ path: "/admin/audit", label: m.shell.audit, key: "l" }] : []),
  ]
}
