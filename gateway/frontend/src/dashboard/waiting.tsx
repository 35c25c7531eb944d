import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import { Ago } from "../kit/ago"
import { Badge } from "../kit/badge"
import { ButtonLink } from "../kit/button"
import { capitalised, formatCount, m, people } from "../messages"
import { Looking, useLooking } from "../shell/looking"
import { Card } from "./card"
import css from "./page.module.css"
import { latestActivity, newestSuspects, pendingByBand, waitingReferences, worstGaps } from "./queries"

const SCREENS: Record<string, string> = { requirement: "/requirements", test_case: "/test-cases" }

export function GapsCard() {
  const waiting = useQuery(waitingReferences).data?.total ?? 0
  return (
    <Card
      title={m.dashboard.gaps}
      query={useQuery(worstGaps)}
      nothing={({ total }) => total === 0 && waiting === 0 && m.dashboard.noGaps}
    >
      {({ items, total }) => (
        <>
          <ul className={css.lines}>
            {items.map(({ id, external_id, title, priority }) => (
              <li key={id}>
                <Link href={`/requirements/${id}`}>
                  <span className={css.id}>{external_id}</span> {title}
                </Link>
                <span className={css.quiet}>{m.items.values[priority].toLowerCase()}</span>
              </li>
            ))}
          </ul>
          {total > 0 && (
            <Link href="/requirements?coverage=none&sort=priority:desc">{m.dashboard.allGaps(formatCount(total))}</Link>
          )}
          {waiting > 0 && <p className={css.quiet}>{m.dashboard.waitingReferences(waiting)}</p>}
        </>
      )}
    </Card>
  )
}

export function ReviewCard() {
  const search = useLooking()
  const nothing = search && (search.is_complete ? m.dashboard.noPending : <Looking search={search} />)
  return (
    <Card
      title={m.dashboard.review}
      query={useQuery(pendingByBand)}
      nothing={({ total }) => total === 0 && (nothing ?? m.common.loading)}
    >
      {({ total, facets }) => (
        <>
          <p>
            <Badge state="pending">{m.dashboard.pending(total)}</Badge>
          </p>
          <ul className={css.lines}>
            {Object.entries(m.common.bands).map(([band, name]) => {
              const count = facets.band?.find(({ value }) => value === band)?.count ?? 0
              return count === 0 ? null : (
                <li key={band}>
                  <Link href={`/review?band=${band}`}>{capitalised(name)}</Link>
                  <span className="numbers">{formatCount(count)}</span>
                </li>
              )
            })}
          </ul>
          <div>
            <ButtonLink href="/review" look="primary">
              {m.dashboard.startReview}
            </ButtonLink>
          </div>
        </>
      )}
    </Card>
  )
}

export function SuspectsCard() {
  return (
    <Card
      title={m.dashboard.suspects}
      query={useQuery(newestSuspects)}
      nothing={({ total }) => total === 0 && m.dashboard.noSuspects}
    >
      {({ items, total }) => (
        <>
          <p>
            <Badge state="suspect">{m.suspect.count(formatCount(total))}</Badge>
          </p>
          <ul className={css.lines}>
            {items.map(({ id, requirement, test_case }) => (
              <li key={id}>
                <span>{requirement?.external_id ?? requirement?.title}</span>
                <span className={css.quiet}>{test_case?.external_id ?? test_case?.title}</span>
              </li>
            ))}
          </ul>
          <div>
            <ButtonLink href="/suspect">{m.dashboard.lookAtSuspects}</ButtonLink>
          </div>
        </>
      )}
    </Card>
  )
}

export function ActivityCard({ days }: { days: number }) {
  return (
    <Card
      title={m.dashboard.activity}
      query={useQuery(latestActivity(days))}
      nothing={({ items }) => items.length === 0 && m.dashboard.noActivity(days)}
    >
      {({ items }) => (
        <ul className={css.lines}>
          {items.map(({ id, summary: told, actor, occurred_at, action, resource_type, resource_id }) => {
            const screen = action.endsWith(".deleted") ? undefined : SCREENS[resource_type]
            const summary = people(told)
            return (
              <li key={id}>
                <span>
                  {screen && resource_id ? <Link href={`${screen}/${resource_id}`}>{summary}</Link> : summary}
                  {!told.startsWith(actor) && <span className={css.quiet}> {people(actor)}</span>}
                </span>
                <span className={css.quiet}>
                  <Ago iso={occurred_at} />
                </span>
              </li>
            )
          })}
        </ul>
      )}
    </Card>
  )
}
