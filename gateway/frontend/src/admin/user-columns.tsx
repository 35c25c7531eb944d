import { Ago } from "../kit/ago"
import { InlineSelect } from "../kit/inline-select"
import { Menu, type MenuEntry } from "../kit/menu"
import type { Column } from "../kit/table"
import { m, people } from "../messages"
import css from "./admin.module.css"
import type { Change, UserRow } from "./change-user"
import { isErased } from "./erase"
import { texts } from "./words"

const words = texts.users
export const ROLES = ["viewer", "reviewer", "admin"] as const
export const ROLE_OPTIONS = ROLES.map((value) => ({ value, label: m.common.roles[value] }))

/** Return the columns of the users; role and activity are changed in the row. */
export function userColumns(
  me: number,
  change: (user: UserRow, change: Change) => void,
  actions: (user: UserRow) => MenuEntry[],
): Column<UserRow>[] {
  return [
    {
      id: "full_name",
      label: words.name,
      width: 104,
      grow: true,
      sort: "full_name",
      cell: ({ id, full_name, email, is_active }) => (
        <span title={people(email)} className={is_active ? undefined : css.quiet}>
          {isErased({ id, email }) ? people(email) : full_name}
          {id === me && <span className={css.quiet}> ({words.you})</span>}
        </span>
      ),
    },
    {
      id: "email",
      label: words.email,
      width: 220,
      grow: true,
      rank: 1,
      sort: "email",
      cell: (user) => !isErased(user) && <span className={user.is_active ? undefined : css.quiet}>{user.email}</span>,
    },
    {
      id: "role",
      label: words.role,
      width: 112,
      cell: (user) =>
        !isErased(user) && (
          <InlineSelect
            label={words.roleOf(user.full_name)}
            value={user.role}
            options={ROLE_OPTIONS}
            onChange={(role) => change(user, { role })}
          />
        ),
    },
    {
      id: "is_active",
      label: words.active,
      width: 72,
      cell: (user) =>
        !isErased(user) && (
          <input
            type="checkbox"
            role="switch"
            className={css.switch}
            aria-label={words.activeOf(user.full_name)}
            checked={user.is_active}
            aria-checked={user.is_active}
            onChange={({ target }) => change(user, { is_active: target.checked })}
          />
        ),
    },
    {
      id: "created_at",
      label: words.since,
      width: 140,
      rank: 2,
      sort: "created_at",
      isDescendingFirst: true,
      cell: ({ created_at }) => <Ago iso={created_at} />,
    },
    {
      id: "actions",
      label: words.access.actions,
      width: 84,
      cell: (user) =>
        !isErased(user) && (
          <Menu label={words.access.actionsOf(user.full_name)} entries={actions(user)}>
            <span aria-hidden="true">…</span>
            <span className="visually-hidden">{words.access.actionsOf(user.full_name)}</span>
          </Menu>
        ),
    },
  ]
}
