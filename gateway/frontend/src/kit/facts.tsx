import type { ReactNode } from "react"
import css from "./facts.module.css"

export type Facts = [name: string, value: ReactNode][]

/** Short facts with their names, below or beside one another; those that are not known are left out. */
export function FactList({ facts, areBeside }: { facts: Facts; areBeside?: boolean }) {
  const known = facts.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== "")
  return (
    <dl className={areBeside ? css.beside : css.below}>
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
