import { useState } from "react"
import { ApiProblem } from "../api/problem"
import { Field } from "../kit/field"
import { m } from "../messages"

const AT_FIRST = { full_name: "", email: "", password: "" }
export type NewAccount = typeof AT_FIRST

type Props = ReturnType<typeof useNewAccount> & {
  errors: Record<string, string>
  /** Whether somebody makes it for somebody else, so that the browser keeps nothing of it. */
  isForOther?: boolean
  passwordHint: string
}

/** Return what a new account is to be, and how its fields change it. */
export function useNewAccount() {
  const [account, setAccount] = useState(AT_FIRST)
  return { account, set: (change: Partial<NewAccount>) => setAccount({ ...account, ...change }) }
}

/** Return what a request for an account gives; that its email is taken is said at its field. */
export function madeAccount<T>(request: Promise<T>): Promise<T> {
  return request.catch((error) => {
    throw error instanceof ApiProblem ? error.at("email_taken", "/email", m.session.emailTaken) : error
  })
}

/** Whose an account is, and its password. */
export function AccountFields({ account, set, errors, isForOther, passwordHint }: Props) {
  return (
    <>
      <Field
        label={m.session.name}
        autoFocus={isForOther}
        autoComplete={isForOther ? "off" : "name"}
        isRequired
        maxLength={200}
        value={account.full_name}
        error={errors["/full_name"]}
        onChange={(full_name) => set({ full_name })}
      />
      <Field
        label={m.session.email}
        type="email"
        autoComplete={isForOther ? "off" : "username"}
        isRequired
        value={account.email}
        error={errors["/email"]}
        onChange={(email) => set({ email })}
      />
      <NewPassword
        label={m.session.password}
        hint={passwordHint}
        value={account.password}
        error={errors["/password"]}
        onChange={(password) => set({ password })}
      />
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
