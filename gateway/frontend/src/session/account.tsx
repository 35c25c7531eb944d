import { Button } from "../kit/button"
import { Choice } from "../kit/choice"
import { optionsOf } from "../kit/filter"
import { Page } from "../kit/page"
import { useSingleKeys } from "../kit/shortcuts"
import { toast } from "../kit/toast"
import { m } from "../messages"
import { type Density, prefer, type Theme, usePreferences } from "../shell/preferences"
import css from "./account.module.css"
import { ApiTokens } from "./api-tokens"
import { OpenSessions } from "./open-sessions"
import { PasswordForm } from "./password-form"
import { signOut, useUser } from "./session"

/** Who one is, how the page looks and behaves in this browser, and the password. */
export default function Account() {
  return (
    <Page title={m.account.title}>
      <div className={css.sections}>
        <You />
        <Appearance />
        <Keyboard />
        <Password />
        <OpenSessions />
        <ApiTokens />
      </div>
    </Page>
  )
}

function You() {
  const user = useUser()
  return (
    <section>
      <h2>{m.account.you}</h2>
      <dl className={css.facts}>
        <dt>{m.account.name}</dt>
        <dd>{user.full_name}</dd>
        <dt>{m.account.email}</dt>
        <dd>{user.email}</dd>
        <dt>{m.account.role}</dt>
        <dd>
          {m.common.roles[user.role]}
          {user.role !== "admin" && <span className={css.quiet}> {m.account.roleHint}</span>}
        </dd>
      </dl>
      <Button onPress={() => void signOut()}>{m.shell.signOut}</Button>
    </section>
  )
}

function Appearance() {
  const { theme, density } = usePreferences()
  return (
    <section>
      <h2>{m.account.appearance}</h2>
      <div className={css.choices}>
        <span>{m.shell.theme}</span>
        <Choice<Theme>
          label={m.shell.theme}
          value={theme}
          options={optionsOf(m.shell.themes)}
          onChange={(next) => prefer({ theme: next })}
        />
        <span>{m.shell.density}</span>
        <Choice<Density>
          label={m.shell.density}
          value={density}
          options={optionsOf(m.shell.densities)}
          onChange={(next) => prefer({ density: next })}
        />
      </div>
    </section>
  )
}

function Keyboard() {
  const [areOn, setOn] = useSingleKeys()
  return (
    <section>
      <h2>{m.account.keyboard}</h2>
      <label>
        <input type="checkbox" checked={areOn} onChange={(event) => setOn(event.target.checked)} />{" "}
        {m.shell.shortcutsOn}
      </label>
      <p className={css.quiet}>{m.account.singleKeysHint}</p>
    </section>
  )
}

function Password() {
  return (
    <section>
      <h2>{m.account.password}</h2>
      <p className={css.quiet}>{m.account.passwordHint}</p>
      <PasswordForm onDone={() => toast(m.account.changed)} />
    </section>
  )
}
