import type { ReactNode } from "react"
import css from "./filter-bar.module.css"

type Props = {
  label: string
  /** How many there are, in words; undefined until that is known. */
  count?: string | undefined
  children: ReactNode
}

/** What a list can be narrowed by, and how many it has then. */
export function FilterBar({ label, count, children }: Props) {
  return (
    <search className={css.bar} aria-label={label}>
      {children}
      <Count>{count}</Count>
    </search>
  )
}

/** How many there are, at the end of a line. */
export function Count({ children }: { children: string | undefined }) {
  return children === undefined ? null : <output className={css.count}>{children}</output>
}
