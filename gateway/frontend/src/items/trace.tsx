import type { ReactNode } from "react"
import { Link } from "wouter"
import { Badge } from "../kit/badge"
import { formatCount, formatMoment, m } from "../messages"
import { VerdictBadge } from "../results/pieces"
import { words as results } from "../results/words"
import type { Detail, Runs } from "./api"
import { nameOf } from "./fields"
import { type Kind, otherKind, REQUIREMENTS } from "./kinds"
import css from "./trace.module.css"

const words = m.items.trace
const MOST = 8

/** What an item is traced to: what stands above it, itself, its tests, and how their last runs ended. */
export function Trace({ kind, detail, above }: { kind: Kind; detail: Detail; above?: ReactNode }) {
  const { item, links, verdict } = detail
  const other = otherKind(kind)
  const shown = links.items.slice(0, MOST)
  const standings = new Map(verdict.test_cases.map((one) => [one.id, one]))
  const own = kind === REQUIREMENTS ? undefined : standings.get(item.id)
  return (
    <section className={css.trace} aria-label={words.title}>
      <h2>{words.title}</h2>
      {above}
      <p className={css.node} data-self>
        <span className={css.id}>{item.external_id ?? kind.words.one}</span>
        <VerdictBadge verdict={verdict.verdict} />
        {own && <Dots runs={own.runs} />}
      </p>
      <ul className={css.branches}>
        {shown.map((link) => {
          const end = link[other.name]
          const standing = standings.get(end.id)
          return (
            <li key={link.id}>
              <span className={css.node}>
                <Link href={`${other.path}/${end.id}`} title={end.title} className={css.id}>
                  {nameOf(end)}
                </Link>
                {link.suspect && <Badge state="suspect">{m.items.link.suspect}</Badge>}
                {standing && <VerdictBadge verdict={standing.verdict} />}
                {standing && <Dots runs={standing.runs} />}
              </span>
            </li>
          )
        })}
        {links.total > shown.length && (
          <li className={css.quiet}>{words.more(formatCount(links.total - shown.length))}</li>
        )}
        {links.total === 0 && <li className={css.quiet}>{kind.words.noLinks}</li>}
      </ul>
    </section>
  )
}

const SHAPES: Record<string, string> = { passed: "●", failed: "✕", flaky: "◆", skipped: "○" }

/** How the last runs ended, the newest last; each leads to its run. */
function Dots({ runs }: { runs: Runs }) {
  if (runs.length === 0) return <span className={css.quiet}>{words.neverRan}</span>
  return (
    <span className={css.dots}>
      {runs.map(({ run_id, at, status }) => {
        const said = `${results.states[status]}, ${formatMoment(at)}`
        return (
          <Link key={run_id} href={`/results/${run_id}`} title={said} aria-label={said} data-status={status}>
            {SHAPES[status]}
          </Link>
        )
      })}
    </span>
  )
}
