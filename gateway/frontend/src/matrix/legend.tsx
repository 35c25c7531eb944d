import { useQuery } from "@tanstack/react-query"
import { Badge, type State } from "../kit/badge"
import { m } from "../messages"
import { VerdictBadge } from "../results/pieces"
import { verificationSummary } from "../results/verdict"
import css from "./canvas.module.css"

/** States of cells as the page names them, by their numbers. */
export const STATE_NAMES = ["none", "covered", "suspect", "pending"] as const satisfies State[]

/** What colours and shapes stand for. */
export function Legend() {
  const hasResults = useQuery(verificationSummary).data?.hasResults
  return (
    <ul className={css.legend} aria-label={m.matrix.legend}>
      {([1, 2, 3] as const).map((state) => (
        <li key={state}>
          <Badge state={STATE_NAMES[state]}>{m.matrix.states[state]}</Badge>
        </li>
      ))}
      <li className={css.gap}>○ {m.matrix.gap}</li>
      {hasResults && (
        <li>
          {m.matrix.verdicts} <VerdictBadge verdict="failed" /> <VerdictBadge verdict="flaky" />{" "}
          <VerdictBadge verdict="partial" /> <VerdictBadge verdict="stale" /> <VerdictBadge verdict="passed" />
        </li>
      )}
    </ul>
  )
}
