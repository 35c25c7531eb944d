import type { ReactNode } from "react"
import { Button as AriaButton, type ButtonProps } from "react-aria-components"
import { Link } from "wouter"
import css from "./button.module.css"
import { ariaKeys, Keys } from "./shortcuts"

type Look = "plain" | "primary" | "danger" | "quiet"
type Props = Omit<ButtonProps, "className" | "style" | "children"> & {
  look?: Look
  /** The shortcut that does the same, shown on the button. */
  keys?: string
  children: ReactNode
}

export function Button({ look = "plain", keys, children, ...props }: Props) {
  return (
    <AriaButton
      {...props}
      className={`${css.button} ${css[look]}`}
      {...(keys && { "aria-keyshortcuts": ariaKeys(keys) })}
    >
      {children}
      {keys && <Keys keys={keys} />}
    </AriaButton>
  )
}

type ButtonLinkProps = {
  look?: Look
  href: string
  children: ReactNode
}

/** A link that looks like a button: it leads somewhere and changes nothing. */
export function ButtonLink({ look = "plain", href, children }: ButtonLinkProps) {
  return (
    <Link href={href} className={`${css.button} ${css[look]}`}>
      {children}
    </Link>
  )
}

/** A link that looks like a button and opens a document of the API beside the page. */
export function DocumentLink({ look = "plain", href, children }: ButtonLinkProps) {
  return (
    <a href={href} target="_blank" rel="noopener" className={`${css.button} ${css[look]}`}>
      {children}
    </a>
  )
}
