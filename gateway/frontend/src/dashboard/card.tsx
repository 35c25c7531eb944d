import type { UseQueryResult } from "@tanstack/react-query"
import { type ReactNode, useId } from "react"
import { NotYet } from "../kit/states"
import css from "./page.module.css"

type Props<T> = {
  title: string
  query: UseQueryResult<T>
  /** Rows of its height while it loads. */
  rows?: number
  wide?: boolean
  actions?: ReactNode
  /** What is said instead where there is nothing to show. */
  nothing?: (data: T) => ReactNode
  children: (data: T) => ReactNode
}

/** A part of the dashboard that loads, fails and is tried again by itself. */
export function Card<T>({ title, query, rows = 6, wide, actions, nothing, children }: Props<T>) {
  const id = useId()
  const { data } = query
  const said = data !== undefined && nothing?.(data)
  return (
    <section className={`${css.card} ${wide ? css.wide : ""}`} aria-labelledby={id}>
      <div className={css.head}>
        <h2 id={id}>{title}</h2>
        {actions}
      </div>
      {data === undefined ? <NotYet query={query} rows={rows} /> : !said && children(data)}
      {said && <div className={css.quiet}>{said}</div>}
    </section>
  )
}
