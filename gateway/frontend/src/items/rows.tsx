import type { ReactNode } from "react"
import { Link } from "wouter"
import { Button } from "../kit/button"
import { NotYet } from "../kit/states"
import { m } from "../messages"
import css from "./tab.module.css"

type Paged = { hasMore: boolean; more: () => void; query: { isFetchingNextPage: boolean } }
type Props<Row> = {
  list: Paged & { rows: Row[] | undefined; query: { data?: unknown; error: unknown; refetch: () => unknown } }
  /** What is said where there is none. */
  none: ReactNode
  children: (row: Row) => ReactNode
}

/** The rows of a list that is read page by page, each a line that breaks where it must. */
export function Rows<Row extends { id: string | number }>({ list, none, children }: Props<Row>) {
  return (
    <>
      <NotYet query={list.query} rows={3} />
      {list.rows?.length === 0 && <div className={css.none}>{none}</div>}
      <ul className={css.rows}>
        {list.rows?.map((row) => (
          <li key={row.id} className={css.row}>
            {children(row)}
          </li>
        ))}
      </ul>
      <More list={list} />
    </>
  )
}

/** A button for what comes next in a list. */
export function More({ list }: { list: Paged }) {
  if (!list.hasMore) return null
  return (
    <div>
      <Button isDisabled={list.query.isFetchingNextPage} onPress={list.more}>
        {m.common.more}
      </Button>
    </div>
  )
}

type Named = { id: string; external_id: string | null; title: string }

/** What an item is called, which leads to it. */
export function ItemLink({ path, item }: { path: string; item: Named }) {
  return (
    <Link href={`${path}/${item.id}`} className={css.name}>
      {item.external_id && <span className={css.id}>{item.external_id}</span>}
      <span>{item.title}</span>
    </Link>
  )
}
