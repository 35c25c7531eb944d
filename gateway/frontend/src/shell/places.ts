import { formatCount, m } from "../messages"
import { useMay, useUser } from "../session/session"
import { useCounts } from "./counts"
import type { IconName } from "./icons"

export type Place = {
  path: string
  label: string
  /** The key after `g`. */
  key: string
  icon: IconName
  count?: { shown: string; read: string }
}
export type PlaceGroup = { name: string; places: Place[] }

/** Return where one can go, in groups: the screens in the navigation, and how much waits there. */
export function usePlaces(): PlaceGroup[] {
  const isAdmin = useUser().role === "admin"
  const isAdminHere = useMay("admin")
  const mayImport = useMay("reviewer")
  const counts = useCounts()
  const { shell, projects } = m
  function countOf(what: keyof typeof counts) {
    const count = counts[what]
    if (!count) return {}
    return { count: { shown: formatCount(count), read: shell.counts[what](formatCount(count)) } }
  }
  const groups: PlaceGroup[] = [
    {
      name: shell.places.work,
      places: [
        { path: "/", label: shell.dashboard, key: "d", icon: "dashboard" },
        { path: "/review", label: shell.review, key: "v", icon: "review", ...countOf("review") },
        { path: "/suspect", label: shell.suspect, key: "s", icon: "suspect", ...countOf("suspect") },
        { path: "/requirements", label: shell.requirements, key: "r", icon: "requirements" },
        { path: "/outline", label: shell.outline, key: "o", icon: "outline" },
        { path: "/tree", label: shell.tree, key: "h", icon: "tree" },
        { path: "/test-cases", label: shell.testCases, key: "t", icon: "testCases" },
        { path: "/matrix", label: shell.matrix, key: "m", icon: "matrix" },
        { path: "/results", label: shell.results, key: "u", icon: "results" },
        {
          path: "/notifications",
          label: shell.notifications,
          key: "n",
          icon: "notifications",
          ...countOf("notifications"),
        },
      ],
    },
    {
      name: shell.places.exchange,
      places: [
        ...(mayImport ? [{ path: "/imports", label: shell.imports, key: "i", icon: "import" } as const] : []),
        { path: "/exports", label: shell.exports, key: "e", icon: "export" },
      ],
    },
    {
      name: shell.places.project,
      places: isAdminHere
        ? [
            { path: "/settings", label: projects.settings, key: "p", icon: "settings" },
            { path: "/admin/audit", label: shell.audit, key: "l", icon: "audit" },
          ]
        : [],
    },
    {
      name: shell.places.installation,
      places: isAdmin ? [{ path: "/admin/users", label: shell.users, key: "a", icon: "users" }] : [],
    },
  ]
  return groups.filter(({ places }) => places.length > 0)
}
