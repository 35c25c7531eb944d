import { useTitle } from "../kit/page"
import { m } from "../messages"
import css from "./page.module.css"
import { SecondFactor } from "./second-factor"

/** Where somebody has to have a second factor before anything else. */
export default function MustEnrol() {
  useTitle(m.session.mustEnrol)
  return (
    <main className={css.page}>
      <h1>{m.session.mustEnrol}</h1>
      <SecondFactor onActive={() => location.reload()} />
    </main>
  )
}
