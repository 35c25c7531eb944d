import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import { Link, useParams } from "wouter"
import { isGone } from "../api/problem"
import { sentenceOf } from "../api/sentence"
import { projectFields } from "../items/project-fields"
import { Ago } from "../kit/ago"
import { Button, ButtonLink } from "../kit/button"
import { FactList } from "../kit/facts"
import { Field } from "../kit/field"
import { Ask, Refusal } from "../kit/form"
import { Page } from "../kit/page"
import { useShortcuts } from "../kit/shortcuts"
import { Empty, NotYet } from "../kit/states"
import { complain, toast } from "../kit/toast"
import { m, people } from "../messages"
import { useMay } from "../session/session"
import { apply, cancel, type Import, importOf, isGoingOn, refusedRowsOf } from "./api"
import css from "./exchange.module.css"
import { BySheet, Counts, changed, countOf, refused, Summary, waiting } from "./plan"
import { useSecondsLeft } from "./progress"
import { formatName, sizeOf } from "./setup"
import { words as exchange } from "./words"

const words = exchange.job
const PHASES = ["upload", "read", "plan", "look", "apply"] as const
/** The progress of what is read, and of what waits to be looked at. */
const READ = 0.5
const PLANNED = 0.6
const KNOWN = { record_changed: words.changed, import_not_planned: words.tooLate }

/** One import: how far it is, what it would do or has done, row by row. */
export default function ImportPage() {
  const { id = "" } = useParams()
  const query = useQuery(importOf(id))
  const { data: job, error } = query
  const above = <Link href="/imports">{words.back}</Link>
  if (!job) {
    return (
      <Page title={m.shell.imports} above={above}>
        {isGone(error) ? <Empty title={words.gone} /> : <NotYet query={query} />}
      </Page>
    )
  }
  return <Loaded job={job} above={above} />
}

function Loaded({ job, above }: { job: Import; above: React.ReactNode }) {
  const mayImport = useMay("reviewer")
  const client = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const [isSending, setSending] = useState(false)
  const [refusal, setRefusal] = useState<unknown>()
  const take = (next: Import) => {
    client.setQueryData(["imports", job.id], next)
    void client.invalidateQueries({ queryKey: ["imports"] })
  }
  async function stop() {
    const next = await cancel(job.id)
    take(next)
    toast(next.status === "cancelled" ? words.cancelHint : words.cancelling)
  }
  // An import may have made fields of the project.
  useEffect(() => {
    if (job.status === "applied") void client.invalidateQueries({ queryKey: projectFields.queryKey })
  }, [client, job.status])
  const canCancel = mayImport && (isGoingOn(job) || job.status === "planned")
  const canApply = mayImport && job.status === "planned" && changed(job) + waiting(job) > 0
  const isDanger = countOf(job, "delete") > 0 || job.options.mode === "restore"
  async function run() {
    try {
      take(await apply(job))
      setAsking(false)
    } catch (problem) {
      void client.invalidateQueries({ queryKey: ["imports", job.id] })
      throw problem
    }
  }
  /** Have it applied; only what takes something away, or all of it, is asked for. */
  async function start() {
    if (isDanger) {
      setAsking(true)
      return
    }
    setSending(true)
    setRefusal(undefined)
    await run().catch(setRefusal)
    setSending(false)
  }
  const begin = () => isSending || void start()
  useShortcuts(canApply ? [{ keys: "a", label: actionOf(job), run: begin }] : [])
  const isKept = job.expires_at === null || Date.parse(job.expires_at) > Date.now()
  const hasRows = job.counts !== null && isKept
  return (
    <Page
      title={job.file_name ?? words.unnamed}
      above={above}
      actions={
        <>
          {canCancel && <Button onPress={() => void stop().catch(complain)}>{words.cancel}</Button>}
          {canApply && (
            <Button look="primary" keys="a" isDisabled={isSending} onPress={begin}>
              {actionOf(job)}
            </Button>
          )}
          {!isGoingOn(job) && job.status !== "planned" && mayImport && (
            <ButtonLink href="/imports">{m.common.importFile}</ButtonLink>
          )}
        </>
      }
    >
      <div className={css.setup}>
        <FactList
          areBeside
          facts={[
            [exchange.history.state, exchange.statuses[job.status]],
            [words.format, formatName(job.format)],
            [words.size, sizeOf(job.size)],
            [words.by, people(job.created_by)],
            [words.created, <Ago key="created" iso={job.created_at} />],
            [words.applied, job.applied_at && <Ago key="applied" iso={job.applied_at} />],
          ]}
        />
        {isGoingOn(job) && <Progress job={job} />}
        {refusal !== undefined && <Refusal>{sentenceOf(refusal, KNOWN)}</Refusal>}
        <Outcome job={job} />
        {job.counts && (
          <section className={css.part} aria-labelledby="plan">
            <h2 id="plan">{job.status === "applied" ? words.appliedTitle : words.planTitle}</h2>
            <BySheet job={job} />
            <Counts job={job} />
            {hasRows && !isGoingOn(job) && (
              <p>
                <ButtonLink href={`/imports/${job.id}/rows`}>{words.showRows}</ButtonLink>
              </p>
            )}
            <Summary job={job} />
            {refused(job) > 0 && hasRows && (
              <p>
                <a href={refusedRowsOf(job.id)} download>
                  {words.download}
                </a>{" "}
                <span className={css.quiet}>{words.downloadHint}</span>
              </p>
            )}
          </section>
        )}
        {job.counts && !isKept && <p className={css.quiet}>{exchange.rows.gone}</p>}
      </div>
      {isAsking && <AskFirst job={job} close={() => setAsking(false)} run={run} />}
    </Page>
  )
}

/** Return what applying an import is called, by what it does. */
const actionOf = (job: Import): string =>
  changed(job) > 0 ? words.apply(changed(job)) : words.keepWaiting(waiting(job))

/** How far an import is, phase by phase. */
function Progress({ job }: { job: Import }) {
  const isApplying = job.status === "applying"
  const share = isApplying ? (job.progress - PLANNED) / (1 - PLANNED) : job.progress / PLANNED
  const left = useSecondsLeft(Math.max(0, Math.min(1, share)), true)
  const now = isApplying ? "apply" : job.progress < READ ? "read" : "plan"
  const at = PHASES.indexOf(now)
  return (
    <section className={css.progress} role="status">
      <ol className={css.phases}>
        {PHASES.map((name, place) => (
          <li key={name} aria-current={name === now ? "step" : undefined} data-done={place < at || undefined}>
            <span aria-hidden="true">{place < at ? "●" : name === now ? "◐" : "○"}</span> {exchange.phases[name]}
            <span className="visually-hidden">
              : {exchange.phaseState[place < at ? "done" : name === now ? "now" : "later"]}
            </span>
          </li>
        ))}
      </ol>
      <progress max={1} value={job.progress} aria-label={exchange.progress} />
      <span>
        {[job.rows_read > 0 && exchange.rowsRead(job.rows_read), left && exchange.left(left)]
          .filter(Boolean)
          .join(", ")}
      </span>
    </section>
  )
}

/** In a sentence, how an import ended or what it waits for. */
function Outcome({ job }: { job: Import }) {
  const { status, error, counts } = job
  if (status === "expired" || (status === "cancelled" && !error)) return <p>{words[status]}</p>
  if (status === "applied") {
    return (
      <div className={css.line}>
        <p>
          ● {words.done(changed(job))} {!job.search_ready && words.searching}
        </p>
        <ButtonLink href="/requirements">{words.toRequirements}</ButtonLink>
        <ButtonLink href="/test-cases">{words.toTestCases}</ButtonLink>
        <ButtonLink href="/review">{words.toReview}</ButtonLink>
      </div>
    )
  }
  if (error) {
    const place = words.place(error.line ?? null, error.column ?? null, error.offset ?? null)
    return (
      <div className={css.failure} role="alert">
        <p>{error.code === "record_changed" ? words.changed : error.detail || words.failed}</p>
        {place && <p className={css.quiet}>{place}</p>}
      </div>
    )
  }
  if (status !== "planned" || !counts) return null
  if (refused(job) > 0) {
    return (
      <p>
        ✕ {words.notClean(refused(job))} {changed(job) > 0 && words.without(refused(job))}
      </p>
    )
  }
  const said = changed(job) + waiting(job) === 0 ? words.nothing : words.clean
  return <p>{job.summary?.clean ? `● ${said}` : `▲ ${said} ${words.notWhole}`}</p>
}

type ApplyProps = { job: Import; close: () => void; run: () => Promise<void> }

/** The question before something of the record goes: deletions are counted out, a restore is for those who mean it. */
function AskFirst({ job, close, run }: ApplyProps) {
  const [typed, setTyped] = useState("")
  const deletions = countOf(job, "delete")
  const isRestore = job.options.mode === "restore"
  return (
    <Ask
      role="alertdialog"
      title={deletions > 0 ? words.deleteTitle(deletions) : words.restoreTitle}
      action={isRestore ? words.restore : words.apply(changed(job))}
      look="danger"
      focus={deletions > 0 ? undefined : "cancel"}
      isReady={deletions === 0 || typed.trim() === String(deletions)}
      known={KNOWN}
      run={run}
      close={close}
    >
      {isRestore && <p>{words.restoreHint}</p>}
      {deletions > 0 && (
        <>
          <p>{words.deleteHint}</p>
          <Field
            label={words.typeCount(String(deletions))}
            value={typed}
            onChange={setTyped}
            autoFocus
            inputMode="numeric"
            autoComplete="off"
          />
        </>
      )}
    </Ask>
  )
}
