import { useQuery } from "@tanstack/react-query"
import type { CSSProperties } from "react"
import { Link } from "wouter"
import { formatCount, formatShare, m } from "../messages"
import { writeAlternatives } from "../url"
import { Card } from "./card"
import css from "./page.module.css"
import { coverageByModule } from "./queries"

const SHOWN = 8

/** The modules with the least coverage; every number leads to the list that makes it. */
export function ModulesCard() {
  return (
    <Card title={m.dashboard.modules} query={useQuery(coverageByModule)}>
      {({ items }) => {
        const worst = items.filter((one) => one.total_requirements > 0).sort((a, b) => a.coverage - b.coverage)
        return (
          <>
            <table className={css.table}>
              <thead>
                <tr>
                  <th scope="col">{m.dashboard.module}</th>
                  <th scope="col">{m.dashboard.coverage}</th>
                  <th scope="col">{m.dashboard.suspect}</th>
                </tr>
              </thead>
              <tbody>
                {worst.slice(0, SHOWN).map((one) => (
                  <tr key={one.module ?? ""}>
                    <th scope="row">
                      <Link href={`/requirements?${filterOf(one.module)}`}>{one.module ?? m.common.noModule}</Link>
                    </th>
                    <td className="numbers">
                      <Share value={one.coverage} />
                      <Link href={`/requirements?${filterOf(one.module)}&coverage=none`}>
                        {m.dashboard.of(formatCount(one.covered_requirements), formatCount(one.total_requirements))}
                      </Link>
                    </td>
                    <td className="numbers">
                      {one.suspect_links > 0 && (
                        <Link href={`/requirements?${filterOf(one.module)}&coverage=suspect`}>
                          ▲ {formatCount(one.suspect_links)}
                        </Link>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            {worst.length > SHOWN && <Link href="/matrix">{m.dashboard.moreModules(worst.length)}</Link>}
          </>
        )
      }}
    </Card>
  )
}

function filterOf(module: string | null): string {
  return `module=${encodeURIComponent(writeAlternatives([{ value: module ?? "", not: false }]) ?? "")}`
}

function Share({ value }: { value: number }) {
  return <span className={css.share} style={{ "--share": value } as CSSProperties} title={formatShare(value)} />
}
