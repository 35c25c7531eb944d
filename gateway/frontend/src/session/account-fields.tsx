import { ApiProblem } from "../api/problem"
import { Field } from "../kit/field"
import type { useFields } from "../kit/form"
import { m } from "../messages"

export const NEW_ACCOUNT = { full_name: "", email: "", password: "" }

type Props = {
  of: ReturnType<typeof useFields<typeof NEW_ACCOUNT>>["of"]
  errors: Record<string, string>
  /** Whether somebody makes it for somebody else, so that the browser keeps nothing of it. */
  isForOther?: boolean
  passwordHint: string
}

/** Return what a request for an account gives; that its email is taken is said at its field. */
export function madeAccount<T>(request: Promise<T>): Promise<T> {
  return request.catch((error) => {
    throw error instanceof ApiProblem ? error.at("email_taken", "/email", m.session.emailTaken) : error
  })
}

/** Whose an account is, and its password. */
export function AccountFields({ of, errors, isForOther, passwordHint }: Props) {
  return (
    <>
      <Field
        label={m.session.name}
        autoFocus={isForOther}
        autoComplete={isForOther ? "off" : "name"}
        isRequired
        maxLength={200}
        {...of("full_name", errors)}
      />
      <Field
        label={m.session.email}
        type="email"
        autoComplete={isForOther ? "off" : "username"}
        isRequired
        {...of("email", errors)}
      />
      <NewPassword label={m.session.password} hint={passwordHint} {...of("password", errors)} />
    </>
  )
}

type PasswordProps = {
  label: string
  hint: string
  value: string
  error: string | undefined
  onChange: (value: string) => void
}

/** A password that is about to be one. */
export function NewPassword(props: PasswordProps) {
  return <Field type="password" autoComplete="new-password" isRequired minLength={8} maxLength={128} {...props} />
}
