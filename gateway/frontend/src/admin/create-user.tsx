import { useQueryClient } from "@tanstack/react-query"
import { type FormEvent, useState } from "react"
import { api } from "../api/client"
import { ApiProblem, UNREACHABLE, unwrap } from "../api/problem"
import { Button } from "../kit/button"
import { Dialog, DialogButtons } from "../kit/dialog"
import { Field } from "../kit/field"
import { Select } from "../kit/select"
import { toast } from "../kit/toast"
import { m } from "../messages"
import type { Role } from "../session/session"
import css from "./admin.module.css"
import { USERS } from "./change-user"
import { ROLE_OPTIONS } from "./user-columns"

const words = m.admin.users

/** A dialog that makes an account for somebody. */
export function CreateUser({ close }: { close: () => void }) {
  const client = useQueryClient()
  const [user, setUser] = useState({ full_name: "", email: "", password: "", role: "viewer" as Role })
  const [isSending, setSending] = useState(false)
  const [problem, setProblem] = useState<ApiProblem>()
  const set = (change: Partial<typeof user>) => setUser({ ...user, ...change })
  async function submit(event: FormEvent) {
    event.preventDefault()
    setSending(true)
    setProblem(undefined)
    try {
      const { full_name } = await unwrap(api.POST("/api/v1/users", { body: user }))
      void client.invalidateQueries({ queryKey: USERS })
      toast(words.created(full_name))
      close()
    } catch (error) {
      setProblem(error instanceof ApiProblem ? error : new ApiProblem(UNREACHABLE, {}))
      setSending(false)
    }
  }
  const wrong = problem?.fields ?? {}
  const isTaken = problem?.code === "email_taken"
  const isElsewhere = problem && !isTaken && Object.keys(wrong).length === 0
  return (
    <Dialog title={words.create} isOpen>
      <form className={css.form} onSubmit={submit}>
        <Field
          label={words.name}
          autoFocus
          autoComplete="off"
          isRequired
          maxLength={200}
          value={user.full_name}
          error={wrong["/full_name"]}
          onChange={(full_name) => set({ full_name })}
        />
        <Field
          label={words.email}
          type="email"
          autoComplete="off"
          isRequired
          value={user.email}
          error={isTaken ? words.emailTaken : wrong["/email"]}
          onChange={(email) => set({ email })}
        />
        <Field
          label={words.password}
          type="password"
          autoComplete="new-password"
          isRequired
          minLength={8}
          maxLength={128}
          hint={words.passwordHint}
          value={user.password}
          error={wrong["/password"]}
          onChange={(password) => set({ password })}
        />
        <Select label={words.role} value={user.role} options={ROLE_OPTIONS} onChange={(role) => set({ role })} />
        {isElsewhere && (
          <p className={css.error} role="alert">
            {problem.message || m.common.unreachable}
          </p>
        )}
        <DialogButtons>
          <Button onPress={close}>{m.common.cancel}</Button>
          <Button type="submit" look="primary" isDisabled={isSending}>
            {words.createIt}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  )
}
