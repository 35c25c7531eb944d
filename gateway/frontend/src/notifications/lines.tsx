import { useState } from "react"
import { Link } from "wouter"
import { Ago } from "../kit/ago"
import { Button } from "../kit/button"
import { formatCount, m, people } from "../messages"
import { projectKey } from "../projects/address"
import { homeOf } from "../projects/queries"
import type { useNotificationActions } from "./api"
import { type Group, leadOf, type Notification } from "./groups"
import css from "./page.module.css"

export type Actions = ReturnType<typeof useNotificationActions>
const words = m.notifications

/** A notification: what it says, and where it leads. */
export function NotificationLine({ notification, actions }: { notification: Notification; actions: Actions }) {
  const { title, message, read, created_at, project } = notification
  const follow = () => void actions.markRead(notification)
  const { to, path } = leadOf(notification)
  return (
    <li className={css.line} data-unread={!read || undefined}>
      <Mark isUnread={!read} />
      <div className={css.text}>
        {project === projectKey() ? (
          <Link href={path} className={css.title} data-line="" onClick={follow}>
            {title}
          </Link>
        ) : (
          // Another page: nothing that was read of one project is kept for the next.
          <a href={homeOf(project) + path} className={css.title} data-line="" onClick={follow}>
            {title}
          </a>
        )}
        <p>{people(message)}</p>
        <p className={css.quiet}>
          {project !== projectKey() && `${project} · `}
          <Ago iso={created_at} /> · {words.leadsTo[to]}
        </p>
      </div>
      <div className={css.actions}>
        {!read && (
          <Button look="quiet" onPress={() => void actions.markRead(notification)}>
            {words.markRead}
          </Button>
        )}
        <Button look="quiet" onPress={() => void actions.remove(notification)}>
          {words.remove}
        </Button>
      </div>
    </li>
  )
}

/** Many notifications with one cause as a line that opens to all of them. */
export function FoldedGroup({ group: { items }, actions }: { group: Group; actions: Actions }) {
  const [isOpen, setOpen] = useState(false)
  const [newest] = items
  if (!newest) return null
  const unread = items.filter(({ read }) => !read).length
  return (
    <li>
      <div className={css.line} data-unread={unread > 0 || undefined}>
        <Mark isUnread={unread > 0} />
        <div className={css.text}>
          <button
            type="button"
            className={css.title}
            data-line=""
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {words.together(formatCount(items.length), words.types[newest.type])}{" "}
            <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span>
          </button>
          <p className={css.quiet}>
            <Ago iso={newest.created_at} />
            {unread > 0 && ` · ${words.unreadOf(formatCount(unread))}`}
          </p>
        </div>
        <div className={css.actions}>
          {unread > 0 && (
            <Button look="quiet" onPress={() => void Promise.all(items.map(actions.markRead))}>
              {words.markRead}
            </Button>
          )}
        </div>
      </div>
      {isOpen && (
        <ul className={css.inner}>
          {items.map((one) => (
            <NotificationLine key={one.id} notification={one} actions={actions} />
          ))}
        </ul>
      )}
    </li>
  )
}

function Mark({ isUnread }: { isUnread: boolean }) {
  return (
    <span className={css.mark}>
      {isUnread && (
        <>
          <span aria-hidden="true">●</span>
          <span className="visually-hidden">{words.unread}</span>
        </>
      )}
    </span>
  )
}
