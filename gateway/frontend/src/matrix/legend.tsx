import { Badge, SHAPES } from "../kit/badge"
import { m } from "../messages"
import { VerdictBadge } from "../results/pieces"
import css from "./canvas.module.css"
import { type Cell, type Matrix, type Shows, stateAt } from "./decode"
import { LOOKS, NAMES } from "./looks"

/** What is in a cell, in a shape and a word. */
export function CellBadge({ matrix, cell }: { matrix: Matrix; cell: Cell }) {
  const state = stateAt(matrix, cell)
  return <Badge state={LOOKS[matrix.shows][state] ?? "none"}>{NAMES[matrix.shows][state] ?? ""}</Badge>
}

/** What colours and shapes stand for. */
export function Legend({ shows, hasResults }: { shows: Shows; hasResults: boolean }) {
  return (
    <ul className={css.legend} aria-label={m.matrix.legend}>
      {LOOKS[shows].map((look, state) => {
        const name = NAMES[shows][state] ?? ""
        return state === 0 ? null : (
          <li key={name}>
            {shows === "links" ? (
              <Badge state={look}>{name}</Badge>
            ) : (
              <span className={css.verdict} data-look={look}>
                <span aria-hidden="true">{SHAPES[look]}</span> {name}
              </span>
            )}
          </li>
        )
      })}
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
