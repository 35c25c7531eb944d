import { useState } from "react"
import * as v from "valibot"
import { Link, useLocation } from "wouter"
import { api } from "../api/client"
import { Ago } from "../kit/ago"
import { ButtonLink } from "../kit/button"
import { useEndless } from "../kit/endless"
import { EndlessTable } from "../kit/endless-table"
import { Filter, optionsOf } from "../kit/filter"
import { FilterBar } from "../kit/filter-bar"
import { Page, Rest } from "../kit/page"
import { Empty } from "../kit/states"
import type { Column } from "../kit/table"
import { m, people } from "../messages"
import { useWhyNot } from "../projects/queries"
import { useMay } from "../session/session"
import { useUrl } from "../url"
import type { Import } from "./api"
import { ChooseFile } from "./choose-file"
import css from "./exchange.module.css"
import { changesOf } from "./plan"
import { Setup } from "./setup"
import { words as exchange } from "./words"

const words = exchange.history
const URL_FIELDS = { status: v.optional(v.string()) }

const COLUMNS: Column<Import>[] = [
  { id: "when", label: words.when, width: 128, cell: ({ created_at }) => <Ago iso={created_at} /> },
  { id: "file", label: words.file, width: 160, grow: true, cell: fileOf },
  { id: "state", label: words.state, width: 108, cell: ({ status }) => exchange.statuses[status] },
  { id: "result", label: words.result, width: 200, rank: 1, grow: true, cell: changesOf },
  {
    id: "by",
    label: words.by,
    width: 200,
    rank: 2,
    cell: ({ created_by }) => <span title={created_by}>{people(created_by)}</span>,
  },
]

function fileOf({ id, file_name }: Import) {
  const name = file_name ?? exchange.job.unnamed
  return (
    <Link href={`/imports/${id}`} tabIndex={-1} title={name}>
      {name}
    </Link>
  )
}

/** Where a file is chosen to be imported, and what was imported before. */
export default function ImportsPage() {
  const mayImport = useMay("reviewer")
  const [file, setFile] = useState<File>()
  const whyNot = useWhyNot(exchange.onlyReviewersHint)
  if (!mayImport) {
    return (
      <Page title={m.shell.imports}>
        <Empty title={exchange.onlyReviewers} hint={whyNot}>
          <ButtonLink href="/exports">{exchange.toExport}</ButtonLink>
        </Empty>
      </Page>
    )
  }
  if (file) return <Setup key={`${file.name} ${file.lastModified}`} file={file} choose={setFile} />
  return (
    <Page title={m.shell.imports} fill>
      <ChooseFile choose={setFile} />
      <History />
    </Page>
  )
}

function History() {
  const [{ status }, setUrl] = useUrl(URL_FIELDS)
  const [, go] = useLocation()
  const query = { limit: 100, ...(status && { status }) }
  const list = useEndless(["imports", "list", query], (place, signal) =>
    api.get("/api/v1/imports", { params: { query: { ...query, ...place } as never }, signal }),
  )
  return (
    <section className={css.history} aria-label={words.title}>
      <FilterBar label={words.filters} count={list.page && words.count(list.page.total)}>
        <h2>{words.title}</h2>
        <Filter
          label={words.state}
          value={status}
          onChange={(next) => setUrl({ status: next })}
          options={optionsOf(exchange.statuses)}
        />
      </FilterBar>
      <Rest>
        <EndlessTable
          list={list}
          waiting={6}
          label={words.title}
          columns={COLUMNS}
          none={<Empty title={status ? words.noMatch : words.none} hint={status ? undefined : words.noneHint} />}
          onOpen={({ id }) => go(`/imports/${id}`)}
          isPressable
        />
      </Rest>
    </section>
  )
}
