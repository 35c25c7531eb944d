import { type FormEvent, useState } from "react"
import { ApiProblem, UNREACHABLE } from "../api/problem"
import { Button } from "../kit/button"
import { Field } from "../kit/field"
import { m } from "../messages"
import css from "./page.module.css"
import { signIn } from "./session"

/** Email and password, and in a demo one button instead. */
export function SignInForm({ email: known, demo }: { email?: string; demo?: { email: string; password: string } }) {
  const [email, setEmail] = useState(known ?? "")
  const [password, setPassword] = useState("")
  const [isShown, setShown] = useState(false)
  const [isSending, setSending] = useState(false)
  const [error, setError] = useState<string>()

  async function send(asWho: string, withPassword: string) {
    setSending(true)
    setError(undefined)
    try {
      await signIn(asWho, withPassword)
    } catch (problem) {
      setError(sentence(problem))
    } finally {
      setSending(false)
    }
  }
  function submit(event: FormEvent) {
    event.preventDefault()
    void send(email, password)
  }
  return (
    <>
      {demo && (
        <div className={css.demo}>
          <Button look="primary" isDisabled={isSending} onPress={() => void send(demo.email, demo.password)}>
            {m.session.demo}
          </Button>
        </div>
      )}
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
            <Button look="quiet" onPress={() => setShown(!isShown)}>
              {isShown ? m.session.hidePassword : m.session.showPassword}
            </Button>
          }
        />
        {error && (
          <p className={css.error} role="alert">
            {error}
          </p>
        )}
        <Button type="submit" look={demo ? "plain" : "primary"} isDisabled={isSending}>
          {isSending ? m.session.signingIn : m.session.signIn}
        </Button>
      </form>
    </>
  )
}

function sentence(problem: unknown): string {
  if (!(problem instanceof ApiProblem)) return m.common.failed
  if (problem.status === UNREACHABLE) return m.common.unreachable
  if (problem.status === 401) return m.session.wrong
  if (problem.status === 429) return m.session.tooMany(problem.retryAfter ?? 60)
  return problem.message || m.common.failed
}
