import { useId, useRef } from "react"
import { Link } from "wouter"
import { m } from "../messages"
import { useUser } from "../session/session"
import { signOut } from "../session/sign-out"
import css from "./account-menu.module.css"

/** Who is signed in, and what concerns only them. The browser itself opens it, closes it and gives the focus back. */
export function AccountMenu({ openSheet }: { openSheet: () => void }) {
  const user = useUser()
  const id = useId()
  const layer = useRef<HTMLUListElement>(null)
  const close = () => layer.current?.hidePopover()
  return (
    <>
      <button type="button" className={css.button} popoverTarget={id}>
        <span className={css.user}>{user.full_name || user.email}</span>
        <span className={css.role}>{m.common.roles[user.role]}</span>
      </button>
      <ul id={id} ref={layer} popover="auto" className={css.layer} aria-label={m.shell.account}>
        <li>
          <Link href="/account" onClick={close}>
            {m.shell.account}
          </Link>
        </li>
        <li>
          <button
            type="button"
            onClick={() => {
              close()
              openSheet()
            }}
          >
            {m.shell.shortcuts}
          </button>
        </li>
        <li>
          <a href="/docs">{m.shell.api}</a>
        </li>
        <li>
          <button type="button" onClick={() => void signOut()}>
            {m.shell.signOut}
          </button>
        </li>
      </ul>
    </>
  )
}
