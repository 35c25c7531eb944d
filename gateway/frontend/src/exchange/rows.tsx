import { useQuery } from "@tanstack/react-query"
import { useMemo, useState } from "react"
import * as v from "valibot"
import { Link, useParams } from "wouter"
import { isGone } from "../api/problem"
import { changeOf, nameOfField } from "../items/fields"
import { Button } from "../kit/button"
import { Changes } from "../kit/changes"
import { useEndless } from "../kit/endless"
import { EndlessTable } from "../kit/endless-table"
import { Filter, optionsOf } from "../kit/filter"
import { FilterBar } from "../kit/filter-bar"
import { Page, Rest } from "../kit/page"
import { Panel } from "../kit/panel"
import { Empty, NotYet } from "../kit/states"
import type { Column } from "../kit/table"
import { formatCount, m } from "../messages"
import { useUrl } from "../url"
import { type Import, importOf, type Row, readRows } from "./api"
import css from "./exchange.module.css"
import { plainly } from "./names"
import { words as exchange } from "./words"

const words = exchange.rows
const PAGE = 100
const text = v.optional(v.string())
const URL_FIELDS = { kind: text, action: text, code: text }
const NO_FILTERS = { kind: undefined, action: undefined, code: undefined }
const PATHS: Record<string, string> = { requirement: "/requirements", test_case: "/test-cases" }

const COLUMNS: Column<Row>[] = [
  { id: "row", label: words.row, width: 64, isNumber: true, cell: ({ row }) => row },
  { id: "kind", label: words.kind, width: 108, rank: 3, cell: ({ kind }) => exchange.rowKinds[kind] },
  { id: "action", label: words.action, width: 92, cell: ({ action }) => action && exchange.actions[action] },
  { id: "key", label: words.key, width: 124, rank: 2, cell: ({ key }) => <span title={key ?? ""}>{key}</span> },
  {
    id: "title",
    label: words.name,
    width: 180,
    rank: 1,
    grow: true,
    cell: ({ title }) => <span title={title ?? ""}>{title}</span>,
  },
  { id: "about", label: words.about, width: 220, grow: true, cell: about },
]

function about({ problems, warnings, changes }: Row) {
  const said = plainly([...problems, ...warnings].map(({ message }) => message).join(" "))
  const sentence = said || changes.map(({ field }) => nameOfField(field)).join(", ")
  return (
    <span title={sentence} data-state={problems.length > 0 ? "failed" : undefined}>
      {problems.length > 0 && "✕ "}
      {sentence}
    </span>
  )
}

/** The rows of an import: what each does to the record. */
export default function ImportRowsPage() {
  const { id = "" } = useParams()
  const query = useQuery(importOf(id))
  const { data: job, error } = query
  const name = job?.file_name ?? exchange.job.unnamed
  return (
    <Page title={words.of(name)} above={<Link href={`/imports/${id}`}>{words.back}</Link>} fill>
      {job ? <Rows job={job} /> : isGone(error) ? <Empty title={exchange.job.gone} /> : <NotYet query={query} />}
    </Page>
  )
}

/** What an import does, row by row, narrowed by the address. */
function Rows({ job }: { job: Import }) {
  const [url, setUrl] = useUrl(URL_FIELDS)
  const query = useMemo(() => Object.fromEntries(Object.entries(url).filter(([, value]) => value)), [url])
  const list = useEndless(["imports", job.id, "rows", job.plan_hash, query], (place, signal) =>
    readRows(job.id, { ...query, ...place, limit: PAGE }, signal),
  )
  const [shown, setShown] = useState<Row>()
  return (
    <section className={css.history} aria-label={words.title}>
      <FilterBar label={words.filters} count={list.page && words.count(list.page.total)}>
        <Filter
          label={words.action}
          value={url.action}
          onChange={(action) => setUrl({ action })}
          options={optionsOf(exchange.actions)}
          opener={{ keys: "f", label: words.filters }}
        />
        <Filter
          label={words.kind}
          value={url.kind}
          onChange={(kind) => setUrl({ kind })}
          options={optionsOf(exchange.rowKinds)}
        />
        <Filter
          label={words.code}
          value={url.code}
          onChange={(code) => setUrl({ code })}
          options={(job.summary?.problems ?? []).map(({ code }) => ({ value: code, label: code.replaceAll("_", " ") }))}
        />
        {Object.keys(query).length > 0 && (
          <Button look="quiet" onPress={() => setUrl(NO_FILTERS)}>
            {m.common.clearFilters}
          </Button>
        )}
      </FilterBar>
      <Rest beside={shown && <RowPanel row={shown} close={() => setShown(undefined)} />}>
        <EndlessTable
          list={list}
          waiting={6}
          label={words.title}
          columns={COLUMNS}
          none={<Empty title={words.none} />}
          beside={{ shown, show: setShown, idOf: ({ position }) => position }}
        />
      </Rest>
    </section>
  )
}

/** A row whole: each problem with the value that has it, and each field before and after. */
function RowPanel({ row, close }: { row: Row; close: () => void }) {
  const { kind, action, item_id, problems, warnings, changes } = row
  const path = PATHS[kind]
  const isThere = path && item_id && (action === "update" || action === "unchanged" || action === "conflict")
  return (
    <Panel label={words.panel} onClose={close}>
      <article className={css.entry}>
        <h2>{[row.key, row.title].filter(Boolean).join(" ")}</h2>
        <p className={css.quiet}>
          {[
            row.row !== null && `${words.row} ${formatCount(row.row)}`,
            row.line !== null && words.line(row.line),
            exchange.rowKinds[kind],
            action && exchange.actions[action],
          ]
            .filter(Boolean)
            .join(" · ")}
        </p>
        {[...problems, ...warnings].map(({ code, name, message, value }, place) => (
          <p key={place} className={problems.includes(problems[place] as never) ? css.failed : undefined}>
            {plainly(message)}
            <span className={css.quiet}>
              {" "}
              {[name && nameOfField(name), value && `${words.value}: ${value}`, code].filter(Boolean).join(" · ")}
            </span>
          </p>
        ))}
        {changes.length > 0 && (
          <section>
            <h3>{words.changes}</h3>
            <Changes changes={changes.map(({ field, before, after }) => changeOf(field, before, after))} />
          </section>
        )}
        {row.raises_version && <p className={css.quiet}>{words.newVersion}</p>}
        {row.makes_suspect > 0 && <p>▲ {exchange.job.suspect(row.makes_suspect)}</p>}
        {isThere && <Link href={`${path}/${item_id}`}>{words.open}</Link>}
      </article>
    </Panel>
  )
}
