import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import * as v from "valibot"
import { Link, useLocation, useParams } from "wouter"
import { api } from "../api/client"
import { isGone } from "../api/problem"
import type { components } from "../api/schema"
import { safeAddress } from "../items/fields"
import { Rows } from "../items/rows"
import tab from "../items/tab.module.css"
import { Ago } from "../kit/ago"
import { Button } from "../kit/button"
import { Choice } from "../kit/choice"
import { useEndless } from "../kit/endless"
import { optionsOf } from "../kit/filter"
import { Ask } from "../kit/form"
import { Page } from "../kit/page"
import { Search } from "../kit/search"
import { Empty, NotYet } from "../kit/states"
import { toast } from "../kit/toast"
import { formatCount, m, people } from "../messages"
import { useMay } from "../session/session"
import { useUrl } from "../url"
import { Counts, ExecutionLine, Health, LanesOf, placeOf } from "./pieces"
import css from "./results.module.css"
import { ConnectLink } from "./send-report"
import { words } from "./words"

const { passed, failed, flaky, skipped } = words.states
const SHOWN = { ...words.run.changes, failed, flaky, passed, skipped }
const URL_FIELDS = {
  show: v.optional(v.picklist(Object.keys(SHOWN) as (keyof typeof SHOWN)[]), ""),
  search: v.optional(v.string()),
}

/** What a person should know of the files of a run, once each; untraced tests have a part of their own. */
function Remarks({ uploads }: Pick<components["schemas"]["TestRun"], "uploads">) {
  const all = uploads.flatMap(({ warnings }) => warnings.filter(({ code }) => code !== "unknown_test"))
  const told = [...new Set(all.map(({ message }) => message))]
  return (
    told.length > 0 && (
      <details>
        <summary>{words.run.remarks(formatCount(told.length))}</summary>
        <ul>
          {told.map((message) => (
            <li key={message}>{message}</li>
          ))}
        </ul>
      </details>
    )
  )
}

/** How many tests of a run count for no test case, and how they would. */
function Untraced({ uploads }: Pick<components["schemas"]["TestRun"], "uploads">) {
  const counts = uploads.flatMap(({ warnings }) => warnings.filter(({ code }) => code === "unknown_test"))
  const most = Math.max(0, ...counts.map(({ count }) => count))
  return (
    most > 0 && (
      <p className={css.line}>
        <Link href="/results?tab=tests">{words.send.unmatched(most)}</Link>
        <ConnectLink />
      </p>
    )
  )
}

/** A run: what it was of, and how its tests ended, those first whose end has changed when that is asked for. */
export function RunPage() {
  const { id = "" } = useParams()
  const params = { path: { run_id: id } }
  const [{ show, search }, setUrl] = useUrl(URL_FIELDS)
  const [isRemoving, setRemoving] = useState(false)
  const mayDelete = useMay("admin")
  const queries = useQueryClient()
  const [, go] = useLocation()
  const read = useQuery({
    queryKey: ["results", "run", id],
    queryFn: ({ signal }) => api.get("/api/v1/test-runs/{run_id}", { params, signal }),
  })
  const list = useEndless(["results", "of run", id, show, search], (place, signal) => {
    const chosen = show && { [show in words.run.changes ? "changed" : "status"]: show }
    const query = { limit: 50, ...(chosen || {}), ...(search && { search }), ...place }
    return api.get("/api/v1/test-runs/{run_id}/results", { params: { ...params, query }, signal })
  })
  async function remove() {
    await api.delete("/api/v1/test-runs/{run_id}", { params })
    toast(words.run.removed)
    go("/results")
    for (const queryKey of [["results"], ["reports"]]) void queries.invalidateQueries({ queryKey })
  }
  const { data: run, error } = read
  const log = run?.build_url && safeAddress(run.build_url)
  if (isGone(error)) {
    return (
      <Page title={words.title}>
        <Empty title={words.run.gone} />
      </Page>
    )
  }
  return (
    <Page
      title={run?.name ?? run?.key ?? words.title}
      above={<Link href="/results">{words.title}</Link>}
      actions={
        mayDelete && (
          <Button look="danger" onPress={() => setRemoving(true)}>
            {m.common.delete}
          </Button>
        )
      }
    >
      {run ? (
        <>
          <p className={css.line}>
            {placeOf(run)}
            <Counts counts={run.counts} />
            {run.status === "running" && words.running}
            <Health run={run} />
            <span className={css.quiet}>
              <Ago iso={run.started_at} /> {words.run.by(people(run.created_by))}
            </span>
            {log && (
              <a href={log} target="_blank" rel="noopener noreferrer">
                {words.run.log}
              </a>
            )}
          </p>
          <LanesOf run={run} />
          <Remarks uploads={run.uploads} />
          <Untraced uploads={run.uploads} />
          <div className={css.line}>
            <Choice
              label={words.run.show}
              value={show}
              options={optionsOf(SHOWN)}
              onChange={(next) => setUrl({ show: next })}
            />
            <Search
              label={words.run.search}
              value={search ?? ""}
              onChange={(next) => setUrl({ search: next }, { replace: true })}
            />
          </div>
          <div className={tab.tab}>
            <Rows list={list} none={words.run.none}>
              {(one) => <ExecutionLine one={one} isOfRun />}
            </Rows>
          </div>
        </>
      ) : (
        <NotYet query={read} />
      )}
      {isRemoving && (
        <Ask
          role="alertdialog"
          title={words.run.remove}
          action={m.common.delete}
          look="danger"
          focus="cancel"
          run={remove}
          close={() => setRemoving(false)}
        >
          <p>{words.run.removeHint}</p>
        </Ask>
      )}
    </Page>
  )
}
