import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import { formatDay, formatShare, m } from "../messages"
import { Card } from "./card"
import css from "./page.module.css"
import { coverageByModule, coverageTrend } from "./queries"
import { type Day, HEIGHT, trendChart, WIDTH } from "./trend"

/** How much is covered now, and how that came about. */
export function CoverageCard({ days }: { days: number }) {
  const now = useQuery(coverageByModule)
  const trend = useQuery(coverageTrend(days))
  return (
    <Card title={m.dashboard.coverage} query={now} wide>
      {({ overall }) => (
        <div className={css.coverage}>
          <p className={css.figure}>
            <Link href="/requirements?coverage=covered">{formatShare(overall.coverage)}</Link>
            <span>{m.dashboard.covered(overall.covered_requirements, overall.total_requirements)}</span>
          </p>
          {trend.data && <Trend days={trend.data.items} />}
        </div>
      )}
    </Card>
  )
}

function Trend({ days }: { days: Day[] }) {
  const first = days[0]
  const last = days.at(-1)
  if (!first || !last || days.length < 2) return <p className={css.quiet}>{m.dashboard.trendStarts}</p>
  const chart = trendChart(days)
  const said = m.dashboard.trendOf(formatShare(first.coverage), formatShare(last.coverage), days.length)
  return (
    <figure className={css.trend}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={said}>
        {chart.shares.map(({ share, y }) => (
          <g key={share}>
            <line x1="40" x2={WIDTH} y1={y} y2={y} className={css.grid} />
            <text x="34" y={y + 4} textAnchor="end">
              {formatShare(share)}
            </text>
          </g>
        ))}
        {chart.dates.map(({ date, x }) => (
          <text key={date.toISOString()} x={x} y={HEIGHT - 4} textAnchor="middle">
            {formatDay(date.toISOString())}
          </text>
        ))}
        {chart.paths.map((path) => (
          <path key={path} d={path} className={css.line} />
        ))}
        {chart.points.map(({ date, x, y }) => (
          <circle key={date} cx={x} cy={y} r="2.5" className={css.point} />
        ))}
      </svg>
      <details>
        <summary>{m.dashboard.asTable}</summary>
        <table className={css.table}>
          <thead>
            <tr>
              <th scope="col">{m.dashboard.day}</th>
              <th scope="col">{m.dashboard.coverage}</th>
            </tr>
          </thead>
          <tbody>
            {days.map(({ date, coverage }) => (
              <tr key={date}>
                <td>{formatDay(date)}</td>
                <td className="numbers">{formatShare(coverage)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  )
}
