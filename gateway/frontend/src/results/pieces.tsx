import { Link } from "wouter"
import type { components } from "../api/schema"
import { ItemLink } from "../items/rows"
import tab from "../items/tab.module.css"
import { Ago } from "../kit/ago"
import { Badge, SHAPES } from "../kit/badge"
import { formatCount, people } from "../messages"
import { addressed } from "../projects/address"
import css from "./results.module.css"
import { STATES, type Verdict } from "./verdict"
import { words } from "./words"

type Schemas = components["schemas"]
export type Execution = Schemas["Execution"]
/** A verdict or a result, and how many have it. */
export function VerdictBadge({ verdict, count }: { verdict: Verdict; count?: number }) {
  const name = words.states[verdict]
  return <Badge state={STATES[verdict]}>{count === undefined ? name : `${formatCount(count)} ${name}`}</Badge>
}

/** How many have which verdict or result; those that nobody has are left out. */
export function Counts({ counts }: { counts: { [verdict in Verdict]?: number } }) {
  return (
    <span className={css.line}>
      {(Object.keys(words.states) as Verdict[]).map((verdict) => {
        const count = counts[verdict]
        return count ? <VerdictBadge key={verdict} verdict={verdict} count={count} /> : null
      })}
    </span>
  )
}

type Reason = Schemas["HealthReason"]
const reasonsOf = (reasons: readonly Reason[]) => reasons.map((one) => words.health.reasons[one]).join(", ")

/** Why a run does not tell the whole; nothing of one that does, or may still come to. */
export function Health({ run: { status, health_reasons } }: { run: Schemas["ListedTestRun"] }) {
  const reasons = status === "running" ? [] : health_reasons
  return reasons.length > 0 && <strong>{words.health.incomplete(reasonsOf(reasons))}</strong>
}

/** Which lanes a run had, and what it says of each. */
export function LanesOf({ run: { lanes, status } }: { run: Schemas["ListedTestRun"] }) {
  return (
    lanes.length > 0 && (
      <ul className={css.line} aria-label={words.health.lanes}>
        {lanes.map(({ lane, environment, health, partial, whole }) => {
          const told = [
            whole && words.health.whole,
            partial && words.health.partial,
            status !== "running" && reasonsOf(health),
          ]
          return (
            <li key={`${lane} ${environment}`}>
              <code>{lane}</code>{" "}
              <span className={css.quiet}>{[environment, ...told].filter(Boolean).join(" · ")}</span>
            </li>
          )
        })}
      </ul>
    )
  )
}

const ENDS: Record<string, Verdict> = { p: "passed", f: "failed", k: "flaky", s: "skipped" }

/** How the last runs of a test ended, the newest last. */
export function Outcomes({ outcomes }: { outcomes: string }) {
  const ends = [...outcomes].flatMap((one) => ENDS[one] ?? [])
  return (
    <span role="img" className={css.ends} aria-label={ends.map((end) => words.states[end]).join(", ")}>
      {ends.map((end, place) => (
        <span key={place} data-state={STATES[end]}>
          {SHAPES[STATES[end]]}
        </span>
      ))}
    </span>
  )
}

const OF_RUN = ["passed", "failed", "flaky", "skipped"] as const

/** How the tests of a run ended, each number below those of other runs. */
export function RunCounts({ counts }: Pick<Schemas["ListedTestRun"], "counts">) {
  return (
    <span className={css.counts}>
      {OF_RUN.map((end) => (
        <span key={end} data-state={counts[end] > 0 ? STATES[end] : undefined} title={words.states[end]}>
          <span aria-hidden="true">{SHAPES[STATES[end]]}</span> {formatCount(counts[end])}
          <span className="visually-hidden"> {words.states[end]}</span>
        </span>
      ))}
    </span>
  )
}

/** Where there are no results: how to send some. */
export function NoResults() {
  return (
    <p>
      {words.none}. <Link href="/results/connect">{words.send.connect}</Link>: {words.noneHint}
    </p>
  )
}

/** What a run was of: its branch, commit and environment. */
export const placeOf = ({ branch, commit, environment }: Partial<Schemas["ListedTestRun"]>) =>
  [branch, commit?.slice(0, 8), environment].filter(Boolean).join(" · ")

/** A line: how a test ended in a run, why, and where. */
export function ExecutionLine({ one, isOfRun }: { one: Execution; isOfRun?: boolean }) {
  const { status, message, trace, duration_ms, test_cases, iterations } = one
  const test = one.test as { class_name: string; name: string }
  const run = one.run as Schemas["ListedTestRun"] & { recorded_by?: string | null }
  const { recorded_by } = run
  return (
    <>
      <div className={css.result}>
        <VerdictBadge verdict={status} /> <span className={css.quiet}>{test.class_name}</span> {test.name}
        {message && (
          <details>
            <summary>{message.split("\n", 1)}</summary>
            {iterations.length > 0 && <p>{words.iterations(iterations.join(", "))}</p>}
            <pre>{trace || message}</pre>
          </details>
        )}
      </div>
      <div className={tab.about}>
        {isOfRun ? (
          test_cases.map((item) => <ItemLink key={item.id} path="/test-cases" item={item} />)
        ) : (
          <Link href={`/results/${run.id}`}>{placeOf(run)}</Link>
        )}
        {recorded_by && <span>{words.recordedBy(people(recorded_by))}</span>}
        {duration_ms !== null && <span className="numbers">{words.seconds((duration_ms / 1000).toFixed(1))}</span>}
        <Ago iso={one.at} />
      </div>
    </>
  )
}

const FORMATS = { CSV: "csv", XLSX: "xlsx", HTML: "html", Markdown: "markdown" }

/** The verification report as a file, in each format. */
export function ReportLinks() {
  return (
    <ul className={css.line} aria-label={words.downloads}>
      {Object.entries(FORMATS).map(([name, format]) => (
        <li key={format}>
          <a href={addressed(`/api/v1/reports/verification?format=${format}`)} download>
            {words.download(name)}
          </a>
        </li>
      ))}
    </ul>
  )
}
