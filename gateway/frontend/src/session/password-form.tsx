import { useState } from "react"
import { ApiProblem } from "../api/problem"
import { Button } from "../kit/button"
import { Field } from "../kit/field"
import { useForm } from "../kit/form"
import { m } from "../messages"
import css from "./account.module.css"
import { NewPassword } from "./account-fields"
import { changePassword, useUser } from "./session"
import { texts } from "./words"

/** The password that is, and the one that is to be. */
export function PasswordForm({ onDone }: { onDone: () => void }) {
  const user = useUser()
  const [current, setCurrent] = useState("")
  const [next, setNext] = useState("")
  const { isSending, fields, failure, onSubmit } = useForm(async () => {
    await changePassword(user, current, next).catch((error) => {
      throw error instanceof ApiProblem
        ? error.at("invalid_credentials", "/current_password", texts.wrongPassword)
        : error
    })
    setCurrent("")
    setNext("")
    onDone()
  })
  return (
    <form className={css.form} onSubmit={onSubmit}>
      {/* For who keeps passwords: whose it is. */}
      <input hidden readOnly autoComplete="username" value={user.email} />
      <Field
        label={texts.currentPassword}
        type="password"
        autoComplete="current-password"
        isRequired
        value={current}
        error={fields["/current_password"]}
        onChange={setCurrent}
      />
      <NewPassword
        label={texts.newPassword}
        hint={m.session.passwordHint}
        value={next}
        error={fields["/new_password"]}
        onChange={setNext}
      />
      {failure}
      <Button type="submit" isDisabled={isSending}>
        {isSending ? texts.changing : texts.changePassword}
      </Button>
    </form>
  )
}
