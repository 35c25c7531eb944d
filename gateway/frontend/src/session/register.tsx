import { Link } from "wouter"
import { Button } from "../kit/button"
import { useForm } from "../kit/form"
import { useTitle } from "../kit/page"
import { m } from "../messages"
import { AccountFields, madeAccount, useNewAccount } from "./account-fields"
import css from "./page.module.css"
import { register } from "./session"
import { useLeave } from "./use-leave"

/** Where somebody makes an account, and is signed in with it. */
export default function Register() {
  useTitle(m.session.register)
  useLeave()
  const made = useNewAccount()
  const { isSending, fields, failure, onSubmit } = useForm(() => madeAccount(register(made.account)))
  return (
    <main className={css.page}>
      <header>
        <h1>{m.session.register}</h1>
        <p className={css.quiet}>{m.session.registerHint}</p>
      </header>
      <form className={css.form} onSubmit={onSubmit}>
        <AccountFields {...made} errors={fields} passwordHint={m.session.passwordHint} />
        {failure}
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
