import { type ReactNode, useEffect, useRef } from "react"
import { useLocation } from "wouter"
import { m } from "../messages"
import css from "./page.module.css"

let shownBefore = false

type Props = {
  title: string
  /** Where this screen belongs to. */
  above?: ReactNode
  actions?: ReactNode
  children: ReactNode
  fill?: boolean
}

/** A screen: its title (in the tab as well), what can be done with all of it, and its content. */
export function Page({ title, above, actions, children, fill }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  const [path] = useLocation()
  useTitle(title)
  useEffect(() => {
    // Where somebody comes to from elsewhere, reading and the keyboard begin with the heading.
    if (shownBefore) heading.current?.focus({ preventScroll: true })
    shownBefore = true
  }, [path])
  return (
    <div className={`${css.page} ${fill ? css.fill : ""}`}>
      <header className={css.header}>
        <div>
          {above}
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
        </div>
        {actions && <div className={css.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** What takes the rest of a screen that fills the window, from edge to edge; `beside` it a panel. */
export function Rest({ beside, children }: { beside?: ReactNode; children: ReactNode }) {
  return (
    <div className={css.rest}>
      <div className={css.main}>{children}</div>
      {beside}
    </div>
  )
}

/** Name the tab after the screen. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${m.common.product}`
  }, [title])
}
