import { useQuery } from "@tanstack/react-query"
import { useId } from "react"
import { Link } from "wouter"
import { Badge } from "../kit/badge"
import { NotYet } from "../kit/states"
import { formatCount } from "../messages"
import { useGate } from "../results/queries"
import { resultTrend, verdictsByModule } from "./queries"
import { listOf, PARTS, type Part, type Verdicts, weekBefore } from "./standing"
import css from "./summary.module.css"
import { words } from "./words"

const { summary } = words

/** How all requirements stand, in one sentence and one bar. */
export function Summary({ days }: { days: number }) {
  const query = useQuery(verdictsByModule)
  const trend = useQuery(resultTrend(days))
  const title = useId()
  return (
    <section className={css.summary} aria-labelledby={title}>
      <h2 id={title} className="visually-hidden">
        {summary.title}
      </h2>
      {query.data ? (
        <Standing
          all={query.data.overall.total_requirements}
          verdicts={query.data.overall.requirements}
          before={weekBefore(trend.data?.items ?? [])}
        />
      ) : (
        <NotYet query={query} rows={3} />
      )}
    </section>
  )
}

function Standing({ all, verdicts, before }: { all: number; verdicts: Verdicts; before: Verdicts | undefined }) {
  const parts = PARTS.filter((part) => verdicts[part] > 0)
  const told = parts.map((part) => summary.parts[part](formatCount(verdicts[part])))
  return (
    <>
      <div className={css.line}>
        <p className={css.sentence}>{summary.sentence(summary.all(all), told.join(", "))}</p>
        <Ready />
      </div>
      <div className={css.bar} aria-hidden="true">
        {parts.map((part) => (
          <Link
            key={part}
            href={listOf(part)}
            tabIndex={-1}
            data-part={part}
            title={summary.parts[part](formatCount(verdicts[part]))}
            style={{ flexGrow: verdicts[part] }}
          />
        ))}
      </div>
      <ul className={css.parts}>
        {PARTS.filter((part) => verdicts[part] > 0 || (before && before[part] > 0)).map((part) => (
          <li key={part}>
            <Link href={listOf(part)}>
              <span className={css.sign} data-part={part} aria-hidden="true" />
              <strong className="numbers">{formatCount(verdicts[part])}</strong> {summary.names[part]}
            </Link>
            {before && <Change part={part} by={verdicts[part] - before[part]} />}
          </li>
        ))}
      </ul>
    </>
  )
}

/** How many more or fewer there are than a week ago, and whether that is good. */
function Change({ part, by }: { part: Part; by: number }) {
  if (by === 0) return null
  const count = formatCount(Math.abs(by))
  const told = by > 0 ? summary.more(count) : summary.fewer(count)
  return (
    <span className={css.change} data-good={by > 0 === (part === "passed")} title={told}>
      <span aria-hidden="true">{by > 0 ? `▴ ${count}` : `▾ ${count}`}</span>
      <span className="visually-hidden">, {told}</span>
    </span>
  )
}

/** Whether the gate lets a release pass. */
function Ready() {
  const { data } = useGate()
  if (!data) return null
  return (
    <Link href="/results?tab=gate" className={css.gate}>
      <Badge state={data.passed ? "covered" : "failed"}>{data.passed ? summary.ready : summary.notReady}</Badge>
    </Link>
  )
}
