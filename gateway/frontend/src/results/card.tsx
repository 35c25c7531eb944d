import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import { Card } from "../dashboard/card"
import css from "../dashboard/page.module.css"
import { formatCount } from "../messages"
import { GateState } from "./gate"
import { NoResults, VerdictBadge } from "./pieces"
import { useGate } from "./queries"
import { VERDICTS, verificationSummary } from "./verdict"
import { words } from "./words"

/** How requirements stand by what was executed, and whether the gate is open. */
export function VerdictsCard() {
  const gate = useGate()
  return (
    <Card title={words.title} query={useQuery(verificationSummary)}>
      {({ requirements, verified_requirements, total_requirements, hasResults }) =>
        !hasResults ? (
          <NoResults />
        ) : (
          <>
            <p>{words.verified(verified_requirements, total_requirements)}</p>
            <ul className={css.lines}>
              {VERDICTS.filter((verdict) => requirements[verdict] > 0).map((verdict) => (
                <li key={verdict}>
                  <Link href={`/results?tab=verdicts&verdict=${verdict}`}>
                    <VerdictBadge verdict={verdict} />
                  </Link>
                  <span className="numbers">{formatCount(requirements[verdict])}</span>
                </li>
              ))}
            </ul>
            {gate.data && (
              <>
                <GateState gate={gate.data} />
                <Link href="/results?tab=gate">{words.gate.title}</Link>
              </>
            )}
          </>
        )
      }
    </Card>
  )
}
