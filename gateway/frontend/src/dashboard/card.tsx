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
  children: (data: T) => ReactNode
}

/** A part of the dashboard that loads, fails and is tried again by itself. */
export function Card<T>({ title, query, rows = 6, wide, children }: Props<T>) {
  const id = useId()
  return (
    <section className={`${css.card} ${wide ? css.wide : ""}`} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {query.data === undefined ? <NotYet query={query} rows={rows} /> : children(query.data)}
    </section>
  )
}
