import { type FormEvent, useState } from "react"
import { Link } from "wouter"
import { ApiProblem, UNREACHABLE } from "../api/problem"
import { Button } from "../kit/button"
import { Field } from "../kit/field"
import { useTitle } from "../kit/page"
import { m } from "../messages"
import css from "./page.module.css"
import { register } from "./session"
import { useLeave } from "./use-leave"

/** Where somebody makes an account, and is signed in with it. */
export default function Register() {
  useTitle(m.session.register)
  useLeave()
  const [account, setAccount] = useState({ full_name: "", email: "", password: "" })
  const [isSending, setSending] = useState(false)
  const [problem, setProblem] = useState<ApiProblem>()
  const set = (change: Partial<typeof account>) => setAccount({ ...account, ...change })
  async function submit(event: FormEvent) {
    event.preventDefault()
    setSending(true)
    setProblem(undefined)
    try {
      await register(account)
    } catch (error) {
      setProblem(error instanceof ApiProblem ? error : new ApiProblem(UNREACHABLE, {}))
      setSending(false)
    }
  }
  const wrong = problem?.fields ?? {}
  const isTaken = problem?.code === "email_taken"
  const isElsewhere = problem && !isTaken && Object.keys(wrong).length === 0
  return (
    <main className={css.page}>
      <header>
        <h1>{m.session.register}</h1>
        <p className={css.quiet}>{m.session.registerHint}</p>
      </header>
      <form className={css.form} onSubmit={submit}>
        <Field
          label={m.session.name}
          autoComplete="name"
          isRequired
          maxLength={200}
          value={account.full_name}
          error={wrong["/full_name"]}
          onChange={(full_name) => set({ full_name })}
        />
        <Field
          label={m.session.email}
          type="email"
          autoComplete="username"
          isRequired
          value={account.email}
          error={isTaken ? m.session.emailTaken : wrong["/email"]}
          onChange={(email) => set({ email })}
        />
        <Field
          label={m.session.password}
          type="password"
          autoComplete="new-password"
          isRequired
          minLength={8}
          maxLength={128}
          hint={m.session.passwordHint}
          value={account.password}
          error={wrong["/password"]}
          onChange={(password) => set({ password })}
        />
        {isElsewhere && (
          <p className={css.error} role="alert">
            {problem.message || m.common.unreachable}
          </p>
        )}
        <Button type="submit" look="primary" isDisabled={isSending}>
          {m.session.register}
        </Button>
      </form>
      <p>
        <Link href="/sign-in">{m.session.haveAccount}</Link>
      </p>
    </main>
  )
}
