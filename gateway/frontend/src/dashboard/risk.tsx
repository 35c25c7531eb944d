import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import { formatCount, m } from "../messages"
import { VerdictBadge } from "../results/pieces"
import { verdictOfRequirement } from "../results/verdict"
import { Card } from "./card"
import css from "./page.module.css"
import { GRAVE, graveRequirements } from "./queries"
import { words } from "./words"

const { risk } = words

/** Requirements that matter most and fail, or that nothing tests. */
export function Risk() {
  return (
    <Card
      title={risk.title}
      query={useQuery(graveRequirements(["failed", "uncovered"]))}
      nothing={({ total }) => total === 0 && risk.none}
    >
      {({ items, total }) => (
        <>
          <p className={css.quiet}>{risk.hint}</p>
          <ul className={css.lines}>
            {items.map(({ id, external_id, title, priority }) => (
              <li key={id}>
                <Link href={`/requirements/${id}`}>
                  <span className={css.id}>{external_id}</span> {title}
                </Link>
                <span className={css.about}>
                  <VerdictOf id={id} />
                  <span className={css.quiet}>{m.items.values[priority].toLowerCase()}</span>
                </span>
              </li>
            ))}
          </ul>
          {total > items.length && (
            <Link href={`/requirements?verdict=failed,uncovered&priority=${GRAVE.join()}&sort=priority:desc`}>
              {risk.all(formatCount(total))}
            </Link>
          )}
        </>
      )}
    </Card>
  )
}

function VerdictOf({ id }: { id: string }) {
  const { data } = useQuery(verdictOfRequirement(id))
  return data ? <VerdictBadge verdict={data} /> : null
}
