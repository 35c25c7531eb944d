import type { FormEvent, ReactNode } from "react"
import { Link } from "wouter"
import { Button } from "../kit/button"
import { useTitle } from "../kit/page"
import { m } from "../messages"
import css from "./page.module.css"

type Props = {
  title: string
  hint: string
  action: string
  isSending: boolean
  failure: ReactNode
  onSubmit: (event: FormEvent) => void
  /** What was done, once it is: then nothing is asked any more. */
  done?: string
  children: ReactNode
}

/** A page with one form, for who is not signed in. */
export function LoneForm({ title, hint, action, isSending, failure, onSubmit, done, children }: Props) {
  useTitle(title)
  return (
    <main className={css.page}>
      <header>
        <h1>{title}</h1>
        {!done && <p className={css.quiet}>{hint}</p>}
      </header>
      <output>{done}</output>
      {!done && (
        <form className={css.form} onSubmit={onSubmit}>
          {children}
          {failure}
          <Button type="submit" look="primary" isDisabled={isSending}>
            {action}
          </Button>
        </form>
      )}
      <p>
        <Link href="/sign-in">{done ? m.session.signIn : m.session.haveAccount}</Link>
      </p>
    </main>
  )
}
