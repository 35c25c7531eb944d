import { ApiProblem } from "../api/problem"
import { Button } from "../kit/button"
import { Field } from "../kit/field"
import { useFields, useForm } from "../kit/form"
import { m } from "../messages"
import css from "./account.module.css"
import { NewPassword } from "./account-fields"
import { changePassword, useUser } from "./session"
import { texts } from "./words"

/** The password that is, and the one that is to be. */
export function PasswordForm({ onDone }: { onDone: () => void }) {
  const user = useUser()
  const { values, of, clear } = useFields({ current_password: "", new_password: "" })
  const { isSending, fields, failure, onSubmit } = useForm(async () => {
    await changePassword(user, values.current_password, values.new_password).catch((error) => {
      throw error instanceof ApiProblem
        ? error.at("invalid_credentials", "/current_password", texts.wrongPassword)
        : error
    })
    clear()
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
        {...of("current_password", fields)}
      />
      <NewPassword label={texts.newPassword} hint={m.session.passwordHint} {...of("new_password", fields)} />
      {failure}
      <Button type="submit" isDisabled={isSending}>
        {isSending ? texts.changing : texts.changePassword}
      </Button>
    </form>
  )
}
