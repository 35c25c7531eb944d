import { useQuery } from "@tanstack/react-query"
import { useId } from "react"
import { SHAPES, type State } from "../kit/badge"
import { ButtonLink } from "../kit/button"
import { Skeleton } from "../kit/states"
import { formatCount, m } from "../messages"
import { useMay } from "../session/session"
import { Looking, useLooking } from "../shell/looking"
import css from "./needs.module.css"
import page from "./page.module.css"
import {
  flakyTests,
  GRAVE,
  graveRequirements,
  missingTests,
  pendingByBand,
  suspectLinks,
  waitingImports,
  waitingReferences,
} from "./queries"
import { words } from "./words"

const { needs } = words
const BANDS = ["very_high", "high"] as const

type Name = keyof typeof needs.actions
type Need = { name: Name; state: State; count: number | undefined; told: string; more?: string; href: string }

function useNeeds(): Need[] {
  const mayImport = useMay("reviewer")
  const failed = useQuery(graveRequirements(["failed"])).data?.total
  const suspects = useQuery(suspectLinks).data?.total
  const pending = useQuery(pendingByBand).data
  const flaky = useQuery(flakyTests).data?.total
  const missing = useQuery(missingTests).data?.total
  const waiting = useQuery(waitingReferences).data?.total
  const imports = useQuery({ ...waitingImports, enabled: mayImport }).data?.total
  const bands = BANDS.flatMap((band) => {
    const count = pending?.facets.band?.find(({ value }) => value === band)?.count ?? 0
    return count > 0 ? [needs.sure(formatCount(count), m.common.bands[band])] : []
  })
  const need = (name: Name, state: State, count: number | undefined, href: string, more?: string): Need => ({
    name,
    state,
    count,
    told: needs[name](count ?? 0),
    href,
    ...(more && { more }),
  })
  return [
    need("failed", "failed", failed, `/requirements?verdict=failed&priority=${GRAVE.join()}`),
    need("suspects", "suspect", suspects, "/suspect"),
    need("suggestions", "pending", pending?.total, "/review", bands.join(", ")),
    need("flaky", "pending", flaky, "/results?tab=flaky"),
    need("missing", "suspect", missing, "/results?tab=tests&show=missing"),
    ...(mayImport
      ? [need("imports", "none", imports, "/imports?status=planned"), need("waiting", "none", waiting, "/imports")]
      : []),
  ]
}

/** What waits for somebody, the gravest first, each with what to do about it. */
export function NeedsYou() {
  const title = useId()
  const all = useNeeds()
  const search = useLooking()
  const found = all.filter(({ count }) => count)
  const isKnown = all.every(({ count }) => count !== undefined)
  return (
    <section className={page.card} aria-labelledby={title}>
      <h2 id={title}>{needs.title}</h2>
      {!isKnown && found.length === 0 && <Skeleton rows={5} />}
      {isKnown && found.length === 0 && (
        <p className={css.nothing}>
          <span aria-hidden="true">✓</span> {needs.nothing}
        </p>
      )}
      <ul className={css.needs}>
        {found.map(({ name, state, told, more, href }) => (
          <li key={name}>
            <span className={css.sign} data-state={state} aria-hidden="true">
              {SHAPES[state]}
            </span>
            <span className={css.told}>
              {told}
              {more && <span className={page.quiet}> · {more}</span>}
            </span>
            <ButtonLink href={href} look={name === "suggestions" ? "primary" : "plain"}>
              {needs.actions[name]}
              <span className="visually-hidden">: {told}</span>
            </ButtonLink>
          </li>
        ))}
      </ul>
      {search && !search.is_complete && <Looking search={search} />}
    </section>
  )
}
