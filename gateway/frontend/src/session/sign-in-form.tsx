import { type FormEvent, useState } from "react"
import { Button } from "../kit/button"
import { Field } from "../kit/field"
import { m } from "../messages"
import css from "./page.module.css"
import { useSignIn } from "./use-sign-in"

/** Email and password. */
export function SignInForm({ email: known }: { email?: string }) {
  const [email, setEmail] = useState(known ?? "")
  const [password, setPassword] = useState("")
  const [isShown, setShown] = useState(false)
  const [code, setCode] = useState("")
  const { send, isHeld, isSending, isCodeAsked, error } = useSignIn()
  function submit(event: FormEvent) {
    event.preventDefault()
    void send(email, password, code)
  }
  return (
    <form className={css.form} onSubmit={submit}>
      <Field
        label={m.session.email}
        type="email"
        autoComplete="username"
        isRequired
        value={email}
        onChange={setEmail}
      />
      <Field
        label={m.session.password}
        type={isShown ? "text" : "password"}
        autoComplete="current-password"
        isRequired
        value={password}
        onChange={setPassword}
        end={
          <Button look="quiet" aria-pressed={isShown} onPress={() => setShown(!isShown)}>
            {m.session.showPassword}
          </Button>
        }
      />
      {isCodeAsked && (
        <Field
          label={m.session.code}
          hint={m.session.codeHint}
          autoComplete="one-time-code"
          autoFocus
          isRequired
          maxLength={32}
          value={code}
          onChange={setCode}
        />
      )}
      <SignInError error={error} />
      <Button type="submit" look="primary" isDisabled={isHeld}>
        {isSending ? m.session.signingIn : m.session.signIn}
      </Button>
    </form>
  )
}

/** Why signing in was refused. */
export function SignInError({ error }: { error: string | undefined }) {
  return <div role="alert">{error && <p className={css.error}>{error}</p>}</div>
}
