import { useTitle } from "../kit/page"
import { m } from "../messages"
import css from "./page.module.css"
import { PasswordForm } from "./password-form"

/** Where somebody who signed in with a password that another chose has to choose their own. */
export default function OwnPassword() {
  useTitle(m.session.chooseOwn)
  return (
    <main className={css.page}>
      <header>
        <h1>{m.session.chooseOwn}</h1>
        <p className={css.quiet}>{m.session.chooseOwnHint}</p>
      </header>
      <PasswordForm onDone={() => location.reload()} />
    </main>
  )
}
