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
  /** Another way to the same end, and whether it is the only one. */
  other?: ReactNode
  isOtherOnly?: boolean
  children: ReactNode
}

/** A page with one form, for who is not signed in. */
export function LoneForm({ title, hint, action, done, other, isOtherOnly, children, ...form }: Props) {
  useTitle(title)
  return (
    <main className={css.page}>
      <header>
        <h1>{title}</h1>
        {!done && <p className={css.quiet}>{hint}</p>}
      </header>
      <output>{done}</output>
      {other}
      {!done && !isOtherOnly && (
        <form className={css.form} onSubmit={form.onSubmit}>
          {children}
          {form.failure}
          <Button type="submit" look="primary" isDisabled={form.isSending}>
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
