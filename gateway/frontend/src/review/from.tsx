import { useQuery } from "@tanstack/react-query"
import { useSearchParams } from "wouter"
import { api } from "../api/client"
import { Select } from "../kit/select"
import { formatCount, m } from "../messages"

const ENGINE = "engine"
/** What stands for all agents, where one would be named. */
export const AGENTS = "agents"

/** What became of what each agent proposed. */
export const agentsRead = {
  queryKey: ["agents"],
  queryFn: ({ signal }: { signal: AbortSignal }) => api.get("/api/v1/analytics/agents", { signal }),
}

/** Return whose proposals are reviewed, undefined for the suggestions of the engine, and how to change that. */
export function useFrom(): [string | undefined, (from: string | undefined) => void] {
  const [search, setSearch] = useSearchParams()
  const from = search.get("from")
  return [from && from !== ENGINE ? from : undefined, (next) => setSearch(next === undefined ? {} : { from: next })]
}

/** Whose work is reviewed: where no agent has proposed anything there is nothing to choose. */
export function From() {
  const [from, change] = useFrom()
  const { data } = useQuery(agentsRead)
  const agents = data?.items ?? []
  if (agents.length === 0 && from === undefined) return null
  const waiting = agents.reduce((sum, { pending }) => sum + pending, 0)
  const withCount = (label: string, count: number) =>
    count > 0 ? m.review.withCount(label, formatCount(count)) : label
  return (
    <Select
      label={m.review.from.label}
      hideLabel
      value={from ?? ENGINE}
      options={[
        { value: ENGINE, label: m.review.from.engine },
        { value: AGENTS, label: withCount(m.review.from.agents, waiting) },
        ...agents.map(({ agent_id, name, pending }) => ({ value: agent_id, label: withCount(name, pending) })),
      ]}
      onChange={(value) => change(value === ENGINE ? undefined : value)}
    />
  )
}
