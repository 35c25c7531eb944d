import { useQuery } from "@tanstack/react-query"
import { useCallback, useMemo, useState } from "react"
import { api } from "../api/client"
import type { components } from "../api/schema"
import { Ago } from "../kit/ago"
import { Button } from "../kit/button"
import { useEndless } from "../kit/endless"
import { Page } from "../kit/page"
import { Empty, NotYet } from "../kit/states"
import { type Column, VirtualTable } from "../kit/table"
import { useActiveRow, useTableKeys } from "../kit/table-keys"
import { formatCount, formatDay, m } from "../messages"
import { useUser } from "../session/session"
import { useUrl } from "../url"
import css from "./admin.module.css"
import { AuditEntryPanel } from "./audit-entry"
import { AuditFilters } from "./audit-filters"
import { AUDIT_URL, type AuditUrl, queryOf } from "./audit-query"
import { AdminOnly } from "./only"
import { texts } from "./words"

type Entry = components["schemas"]["AuditEntry"]
const words = texts.audit
const PAGE = 100
const NO_FILTERS = Object.fromEntries(Object.keys(AUDIT_URL).map((name) => [name, undefined]))

const COLUMNS: Column<Entry>[] = [
  { id: "when", label: words.when, width: 128, cell: ({ occurred_at }) => <Ago iso={occurred_at} /> },
  { id: "actor", label: words.actor, width: 200, rank: 2, cell: ({ actor }) => <span title={actor}>{actor}</span> },
  { id: "action", label: words.action, width: 176, rank: 1, cell: ({ action }) => words.actions[action] },
  {
    id: "summary",
    label: words.summary,
    width: 160,
    grow: true,
    cell: ({ summary }) => <span title={summary}>{summary}</span>,
  },
]

export default function AuditPage() {
  return (
    <AdminOnly title={words.title}>
      <AuditLog />
    </AdminOnly>
  )
}

/** How far the log is sealed: who keeps this line elsewhere can show later that nothing before it was changed. */
function Chain() {
  const isAsked = useUser().role === "admin"
  const { data } = useQuery({
    queryKey: ["audit-log", "head"],
    queryFn: ({ signal }) => api.get("/api/v1/audit-log/head", { signal }),
    enabled: isAsked,
  })
  if (!data?.hash) return null
  const { entries, hash, signed } = data
  return (
    <p className={css.quiet} title={hash}>
      {words.sealed(formatCount(entries), hash.slice(0, 12))},{" "}
      {signed ? words.signedOn(formatDay(signed.day)) : words.notSigned}
    </p>
  )
}

function AuditLog() {
  const [url, setUrl] = useUrl(AUDIT_URL)
  const query = useMemo(() => queryOf(url), [url])
  const {
    rows,
    page,
    onSight,
    isStale,
    query: read,
  } = useEndless(["audit-log", query], (place, signal) =>
    api.get("/api/v1/audit-log", { params: { query: { ...query, limit: PAGE, ...place } as never }, signal }),
  )
  const [shown, setShown] = useState<Entry>()
  const count = rows?.length ?? 0
  const row = useCallback((index: number) => rows?.[index], [rows])
  const { table, active, activate, begin } = useActiveRow((index) => shown && setShown(row(index)))
  const open = (index: number) => setShown(shown?.id === row(index)?.id ? undefined : row(index))
  function narrow(change: Partial<AuditUrl>) {
    begin()
    setUrl(change)
  }
  useTableKeys({ active, count, onActive: activate, onOpen: () => open(active), onPeek: () => open(active) })
  const isNarrowed = Object.keys(query).length > 0
  return (
    <Page title={words.title} fill>
      <AuditFilters url={url} setUrl={narrow}>
        {isNarrowed && (
          <Button look="quiet" onPress={() => narrow(NO_FILTERS)}>
            {m.common.clearFilters}
          </Button>
        )}
        {page && <output className={css.count}>{words.count(formatCount(page.total))}</output>}
      </AuditFilters>
      <Chain />
      <div className={css.content}>
        <div className={css.rows}>
          <NotYet query={read} rows={16} />
          {rows?.length === 0 &&
            (isNarrowed ? <Empty title={words.noMatch} hint={words.noMatchHint} /> : <Empty title={words.none} />)}
          {count > 0 && (
            <VirtualTable
              ref={table}
              label={words.title}
              columns={COLUMNS}
              count={count}
              row={row}
              onSight={onSight}
              active={Math.min(active, count - 1)}
              onActive={activate}
              onPress={open}
              isStale={isStale}
            />
          )}
        </div>
        {shown && <AuditEntryPanel entry={shown} narrow={narrow} close={() => setShown(undefined)} />}
      </div>
    </Page>
  )
}
