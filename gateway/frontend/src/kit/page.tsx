import { type ReactNode, useEffect } from "react"
import { m } from "../messages"
import css from "./page.module.css"

/** A screen: its title (in the tab as well), what can be done with all of it, and its content. */
export function Page({
  title,
  above,
  actions,
  children,
  fill,
}: {
  title: string
  /** Where this screen belongs to. */
  above?: ReactNode
  actions?: ReactNode
  children: ReactNode
  fill?: boolean
}) {
  useTitle(title)
  return (
    <div className={`${css.page} ${fill ? css.fill : ""}`}>
      <header className={css.header}>
        <div>
          {above}
          <h1>{title}</h1>
        </div>
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
