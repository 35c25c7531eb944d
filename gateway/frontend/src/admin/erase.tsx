import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { api } from "../api/client"
import { Field } from "../kit/field"
import { Ask } from "../kit/form"
import { toast } from "../kit/toast"
import { readSession, useUser } from "../session/session"
import { PROBLEMS, USERS, type UserRow } from "./change-user"
import { texts } from "./words"

const words = texts.users.erase

/** Check whether nothing says any more who an account was of. */
export const isErased = ({ id, email }: Pick<UserRow, "id" | "email">) => email === `erased-${id}@erased.invalid`

/** Asks before a person is erased, says what is lost and what stays, and wants their name typed. */
export function EraseDialog({ user, close }: { user: UserRow; close: () => void }) {
  const [typed, setTyped] = useState("")
  const client = useQueryClient()
  const { id: me } = useUser()
  const { id, full_name: name, etag } = user
  async function erase() {
    const params = { path: { user_id: id }, query: { erase: true }, header: { "If-Match": etag } }
    try {
      await api.delete("/api/v1/users/{user_id}", { params })
    } finally {
      void client.invalidateQueries({ queryKey: USERS })
    }
    toast(words.done(name))
    close()
    if (id === me) void readSession()
  }
  return (
    <Ask
      role="alertdialog"
      title={words.title(name)}
      action={words.erase}
      look="danger"
      isReady={typed.trim() === name.trim()}
      known={PROBLEMS}
      run={erase}
      close={close}
    >
      <p>{words.lost}</p>
      <p>{words.stays(`erased-${id}@erased.invalid`)}</p>
      <p>{words.unreached}</p>
      <Field label={words.typeName(name)} value={typed} onChange={setTyped} autoFocus autoComplete="off" />
    </Ask>
  )
}
