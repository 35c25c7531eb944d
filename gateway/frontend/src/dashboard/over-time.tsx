import { useQuery } from "@tanstack/react-query"
import { scaleBand, scaleLinear } from "d3-scale"
import { useState } from "react"
import { useLocation } from "wouter"
import { formatCount, formatDay, formatShare } from "../messages"
import { useSize } from "../plots/measure"
import { Plot } from "../plots/plot"
import plot from "../plots/plot.module.css"
import { Card } from "./card"
import { plotLines, type Share } from "./lines"
import css from "./over-time.module.css"
import { type Day, type ListedRun, lastRuns, resultTrend } from "./queries"
import { words } from "./words"

const { time } = words
const HEIGHT = 168
const RESULTS = ["passed", "skipped", "flaky", "failed"] as const
const FLOOR = 18

/** How coverage and verification came about, and how the last runs ended. */
export function OverTime({ days }: { days: number }) {
  const trend = useQuery(resultTrend(days))
  return (
    <Card title={time.title} query={trend} wide>
      {({ items, branch }) => (
        <div className={css.both}>
          <Lines days={items} />
          <Runs branch={branch} />
        </div>
      )}
    </Card>
  )
}

function shareOf({ date, requirements, worked_out }: Day): Share[] {
  if (!requirements) return []
  const all = Object.values(requirements).reduce((sum, count) => sum + count, 0)
  if (all === 0) return []
  const { passed, uncovered } = requirements
  return [{ date, verified: passed / all, covered: (all - uncovered) / all, isWorkedOut: worked_out }]
}

function Lines({ days }: { days: Day[] }) {
  const [ref, { width }] = useSize<SVGSVGElement>()
  const shares = days.flatMap(shareOf)
  const last = shares.at(-1)
  const rows = [
    [time.day, time.verified, time.covered],
    ...shares.map(({ date, verified, covered }) => [date, formatShare(verified), formatShare(covered)]),
  ]
  if (!last || shares.length < 2) return <p className={css.quiet}>{time.tooNew}</p>
  const drawn = plotLines(shares, width, HEIGHT)
  const note = shares.some(({ isWorkedOut }) => isWorkedOut) && time.workedOut
  return (
    <Plot title={time.lines} words={time} rows={rows} note={note}>
      <svg
        ref={ref}
        role="img"
        aria-label={time.linesOf(shares.length, formatShare(last.verified), formatShare(last.covered))}
      >
        {drawn.shares.map(({ share, y }) => (
          <g key={share}>
            <line x1="38" x2={width} y1={y} y2={y} className={plot.grid} />
            <text x="32" y={y + 4} textAnchor="end">
              {formatShare(share)}
            </text>
          </g>
        ))}
        {drawn.dates.map(({ date, x }) => (
          <text key={date.toISOString()} x={x} y={HEIGHT - 4} textAnchor="middle">
            {formatDay(date.toISOString())}
          </text>
        ))}
        {drawn.lines.map(({ name, paths, points, last: end }) => (
          <g key={name} className={css[name]}>
            {paths.map(({ path, isWorkedOut }) => (
              <path key={path} d={path} strokeDasharray={isWorkedOut ? "4 3" : undefined} />
            ))}
            {[...points.filter(({ x }) => x !== end?.x), ...(end ? [end] : [])].map(({ x, y }) => (
              <circle key={x} cx={x} cy={y} r="3" />
            ))}
            {end && (
              <text x={end.x - 6} y={name === "covered" ? end.y - 7 : end.y + 16} textAnchor="end">
                {time[name]} {formatShare(last[name])}
              </text>
            )}
          </g>
        ))}
      </svg>
    </Plot>
  )
}

function countsOf({ counts }: ListedRun): string {
  return [...RESULTS]
    .reverse()
    .filter((result) => counts[result] > 0)
    .map((result) => `${formatCount(counts[result])} ${time.results[result]}`)
    .join(", ")
}

const toldOf = (run: ListedRun) => time.runOf(run.name ?? run.key, formatDay(run.started_at), countsOf(run))

function Runs({ branch }: { branch: string }) {
  const [ref, { width }] = useSize<SVGSVGElement>()
  const [, go] = useLocation()
  const { data } = useQuery(lastRuns(branch))
  const [shown, show] = useState<number>()
  const runs = [...(data?.items ?? [])].filter(({ counts }) => counts.tests > 0).reverse()
  const at = Math.min(shown ?? runs.length - 1, runs.length - 1)
  const chosen = runs[at]
  if (!data) return null
  if (!chosen) return <p className={css.quiet}>{time.noRuns}</p>
  const x = scaleBand<number>()
    .domain(runs.map((_, place) => place))
    .range([0, Math.max(1, width)])
    .padding(0.25)
  const y = scaleLinear()
    .domain([0, Math.max(...runs.map(({ counts }) => counts.tests))])
    .range([0, HEIGHT - FLOOR - 4])
  const rows = [
    [time.run, time.day, ...RESULTS.map((result) => time.results[result])],
    ...runs.map((run) => [run.name ?? run.key, run.started_at, ...RESULTS.map((result) => run.counts[result])]),
  ]
  function step(key: string): number | undefined {
    const moves: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: runs.length - 1 }
    const next = moves[key]
    return next === undefined ? undefined : Math.max(0, Math.min(runs.length - 1, next))
  }
  return (
    <Plot title={time.runs} words={time} rows={rows} note={<span aria-live="polite">{toldOf(chosen)}</span>}>
      <div
        role="slider"
        tabIndex={0}
        className={css.runs}
        aria-label={time.runsOf(runs.length)}
        aria-valuemin={1}
        aria-valuemax={runs.length}
        aria-valuenow={at + 1}
        aria-valuetext={toldOf(chosen)}
        onKeyDown={(event) => {
          const next = step(event.key)
          if (next !== undefined) {
            event.preventDefault()
            show(next)
          } else if (event.key === "Enter") go(`/results/${chosen.id}`)
        }}
      >
        <svg ref={ref} aria-hidden="true">
          {runs.map((run, place) => {
            let top = HEIGHT - FLOOR
            return (
              // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the whole plot
              <g
                key={run.id}
                className={css.run}
                data-shown={place === at || undefined}
                onPointerEnter={() => show(place)}
                onClick={() => go(`/results/${run.id}`)}
              >
                <rect x={x(place)} y={0} width={x.bandwidth()} height={HEIGHT - FLOOR} className={css.column} />
                {RESULTS.map((result) => {
                  const height = y(run.counts[result])
                  top -= height
                  return height > 0 ? (
                    <rect
                      key={result}
                      x={x(place)}
                      y={top}
                      width={x.bandwidth()}
                      height={height}
                      data-result={result}
                    />
                  ) : null
                })}
              </g>
            )
          })}
          {[runs[0], runs.at(-1)].map(
            (run, end) =>
              run && (
                <text
                  key={end ? "last" : "first"}
                  x={end ? width : 0}
                  y={HEIGHT - 3}
                  textAnchor={end ? "end" : "start"}
                >
                  {formatDay(run.started_at)}
                </text>
              ),
          )}
        </svg>
      </div>
    </Plot>
  )
}
