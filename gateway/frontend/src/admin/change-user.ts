import { type InfiniteData, useQueryClient } from "@tanstack/react-query"
import { useMemo } from "react"
import { client, withEtag } from "../api/client"
import type { components } from "../api/schema"
import { complain, endUndo, toast } from "../kit/toast"
import { m } from "../messages"
import { readSession, useUser } from "../session/session"
import { texts } from "./words"

export type UserRow = components["schemas"]["ListedUser"]
type Page = components["schemas"]["Page_ListedUser_"]
export type Change = Partial<Pick<UserRow, "role" | "is_active">>

const words = texts.users
export const USERS = ["users", "rows"]
/** What an account refuses, in words. */
export const PROBLEMS = { last_admin: words.lastAdmin, 412: words.changed, 404: words.gone }

/** Return a function that changes a user as they were shown: seen at once, and put back when the API refuses it. */
export function useChangeUser(): (user: UserRow, change: Change) => Promise<void> {
  const client = useQueryClient()
  const { id: me } = useUser()
  return useMemo(() => {
    function replace(user: UserRow) {
      const put = (page: Page) => ({ ...page, items: page.items.map((row) => (row.id === user.id ? user : row)) })
      client.setQueriesData<InfiniteData<Page>>(
        { queryKey: USERS },
        (data) => data && { ...data, pages: data.pages.map(put) },
      )
    }
    return async function change(user: UserRow, wanted: Change) {
      endUndo()
      replace({ ...user, ...wanted })
      try {
        const changed = await patch(user, wanted)
        replace(changed)
        const { role, is_active } = user
        toast(said(changed, wanted), { undo: () => void change(changed, wanted.role ? { role } : { is_active }) })
        if (user.id === me) void readSession()
      } catch (problem) {
        replace(user)
        complain(problem, PROBLEMS)
        void client.invalidateQueries({ queryKey: USERS })
      }
    }
  }, [client, me])
}

async function patch(user: UserRow, change: Change): Promise<UserRow> {
  const params = { path: { user_id: user.id }, header: { "If-Match": user.etag } }
  const { data, etag } = await withEtag(client.PATCH("/api/v1/users/{user_id}", { params, body: change }))
  return { ...data, etag }
}

function said({ full_name, role, is_active }: UserRow, change: Change): string {
  if (change.role) return words.becomes(full_name, m.common.roles[role])
  return is_active ? words.activated(full_name) : words.deactivated(full_name)
}
