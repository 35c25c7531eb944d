import css from "./badge.module.css"

export type State = "covered" | "suspect" | "pending" | "failed" | "none"

export const SHAPES: Record<State, string> = { covered: "●", suspect: "▲", pending: "◆", failed: "✕", none: "○" }

/** A state in a word and a shape, never by colour alone. */
export function Badge({ state, children }: { state: State; children: string }) {
  return (
    <span className={css.badge} data-state={state}>
      <span aria-hidden="true">{SHAPES[state]}</span> {children}
    </span>
  )
}
