import { useQuery } from "@tanstack/react-query"
import { useMemo, useState } from "react"
import { api } from "../api/client"
import type { components } from "../api/schema"
import { Ago } from "../kit/ago"
import { Button } from "../kit/button"
import { useEndless } from "../kit/endless"
import { EndlessTable } from "../kit/endless-table"
import { Page, Rest } from "../kit/page"
import { Empty } from "../kit/states"
import type { Column } from "../kit/table"
import { formatDay, m, people } from "../messages"
import { addressed } from "../projects/address"
import { useUser } from "../session/session"
import { useUrl } from "../url"
import css from "./admin.module.css"
import { AuditEntryPanel } from "./audit-entry"
import { AuditFilters } from "./audit-filters"
import { AUDIT_URL, queryOf } from "./audit-query"
import { AdminOnly } from "./only"
import { texts } from "./words"

type Entry = components["schemas"]["AuditEntry"]
const words = texts.audit
const PAGE = 100
const NO_FILTERS = Object.fromEntries(Object.keys(AUDIT_URL).map((name) => [name, undefined]))

const COLUMNS: Column<Entry>[] = [
  { id: "when", label: words.when, width: 128, cell: ({ occurred_at }) => <Ago iso={occurred_at} /> },
  {
    id: "actor",
    label: words.actor,
    width: 200,
    rank: 2,
    cell: ({ actor }) => <span title={actor}>{people(actor)}</span>,
  },
  { id: "action", label: words.action, width: 176, rank: 1, cell: ({ action }) => words.actions[action] },
  {
    id: "summary",
    label: words.summary,
    width: 160,
    grow: true,
    cell: ({ summary }) => <span title={people(summary)}>{people(summary)}</span>,
  },
]

export default function AuditPage() {
  return (
    <AdminOnly title={words.title}>
      <AuditLog />
    </AdminOnly>
  )
}

/** Whether the chain of seals is whole, in a sentence. */
function Chain() {
  const isAsked = useUser().role === "admin"
  const { data } = useQuery({
    queryKey: ["audit-log", "chain"],
    queryFn: ({ signal }) => api.get("/api/v1/audit-log/chain", { signal }),
    enabled: isAsked,
    // To follow it costs more than a list: once a visit is enough.
    staleTime: Number.POSITIVE_INFINITY,
    meta: { live: false },
  })
  if (!data) return null
  const { entries, wrong, checked, erased, sealed_at, signed_on } = data
  if (wrong)
    return (
      <p className={css.broken} role="alert">
        {words.chain.broken(wrong)}
      </p>
    )
  if (entries === 0) return <p className={css.quiet}>{words.chain.none}</p>
  return (
    <p className={css.quiet}>
      {checked ? words.chain.whole(entries) : words.chain.long(entries)}
      {sealed_at && (
        <>
          {"; "}
          {words.chain.sealed} <Ago iso={sealed_at} />
        </>
      )}
      {", "}
      {signed_on ? words.chain.signedOn(formatDay(signed_on)) : words.chain.notSigned}
      {erased > 0 && `; ${words.chain.erased(erased)}`}
    </p>
  )
}

const FORMATS = { CSV: "csv", NDJSON: "ndjson" }

/** What is shown as a file: the same filters, and all that they find. */
function Exports({ query }: { query: Record<string, string> }) {
  return (
    <ul className={css.exports} aria-label={words.exports}>
      {Object.entries(FORMATS).map(([name, format]) => (
        <li key={format}>
          <a href={addressed(`/api/v1/audit-log/export?${new URLSearchParams({ ...query, format })}`)} download>
            {words.exportAs(name)}
          </a>
        </li>
      ))}
    </ul>
  )
}

function AuditLog() {
  const [url, setUrl] = useUrl(AUDIT_URL)
  const query = useMemo(() => queryOf(url), [url])
  const list = useEndless(["audit-log", query], (place, signal) =>
    api.get("/api/v1/audit-log", { params: { query: { ...query, limit: PAGE, ...place } as never }, signal }),
  )
  const [shown, setShown] = useState<Entry>()
  const isNarrowed = Object.keys(query).length > 0
  return (
    <Page title={words.title} fill>
      <AuditFilters url={url} setUrl={setUrl} count={list.page && words.count(list.page.total)}>
        {isNarrowed && (
          <Button look="quiet" onPress={() => setUrl(NO_FILTERS)}>
            {m.common.clearFilters}
          </Button>
        )}
      </AuditFilters>
      <div className={css.state}>
        <Chain />
        <Exports query={query} />
      </div>
      <Rest beside={shown && <AuditEntryPanel entry={shown} narrow={setUrl} close={() => setShown(undefined)} />}>
        <EndlessTable
          list={list}
          waiting={16}
          label={words.title}
          columns={COLUMNS}
          none={isNarrowed ? <Empty title={words.noMatch} hint={words.noMatchHint} /> : <Empty title={words.none} />}
          beside={{ shown, show: setShown, idOf: ({ id }) => id }}
        />
      </Rest>
    </Page>
  )
}
