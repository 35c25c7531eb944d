import { useQuery } from "@tanstack/react-query"
import { useMemo, useState } from "react"
import { verificationSummary } from "../results/verdict"
import { kept } from "../store"
import { columnsOf, VERDICT } from "./columns"
import type { Kind } from "./kinds"
import type { ProjectField } from "./project-fields"

const ALWAYS = new Set(["external_id", "title"])

/** Which columns this browser shows, and how to change that. */
export function useColumns(kind: Kind, own: ProjectField[]) {
  const setting = `traceline.columns.${kind.name}`
  const [hidden, setHidden] = useState(() => kept<string[]>(setting, []))
  const hasResults = useQuery(verificationSummary).data?.hasResults
  const all = useMemo(
    () => columnsOf(kind, own).filter(({ id }) => id !== VERDICT || hasResults),
    [kind, own, hasResults],
  )
  const columns = useMemo(() => all.filter(({ id }) => !hidden.includes(id)), [all, hidden])
  const toggle = (id: string) => {
    const next = hidden.includes(id) ? hidden.filter((one) => one !== id) : [...hidden, id]
    localStorage.setItem(setting, JSON.stringify(next))
    setHidden(next)
  }
  const choice = all
    .filter(({ id }) => !ALWAYS.has(id))
    .map(({ id, label }) => ({ id, label, isChosen: !hidden.includes(id), run: () => toggle(id) }))
  return { columns, choice }
}
