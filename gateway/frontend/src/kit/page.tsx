import { type ReactNode, useEffect } from "react"
import { m } from "../messages"
import css from "./page.module.css"

/** A screen: its title (in the tab as well), what can be done with all of it, and its content. */
export function Page({
  title,
  actions,
  children,
  fill,
}: {
  title: string
  actions?: ReactNode
  children: ReactNode
  fill?: boolean
}) {
  useTitle(title)
  return (
    <div className={`${css.page} ${fill ? css.fill : ""}`}>
      <header className={css.header}>
        <h1>{title}</h1>
        {actions && <div className={css.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** Name the tab after the screen. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${m.common.product}`
  }, [title])
}
