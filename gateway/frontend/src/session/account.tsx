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
import { SecondFactor } from "./second-factor"
import { useUser } from "./session"
import { signOut } from "./sign-out"
import { texts } from "./words"

/** Who one is, how the page looks and behaves in this browser, and the password. */
export default function Account() {
  return (
    <Page title={texts.title}>
      <div className={css.sections}>
        <You />
        <Appearance />
        <Keyboard />
        <Password />
        <SecondFactor />
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
      <h2>{texts.you}</h2>
      <dl className={css.facts}>
        <dt>{texts.name}</dt>
        <dd>{user.full_name}</dd>
        <dt>{texts.email}</dt>
        <dd>{user.email}</dd>
        <dt>{texts.role}</dt>
        <dd>
          {m.common.roles[user.role]}
          {user.role !== "admin" && <span className={css.quiet}> {texts.roleHint}</span>}
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
      <h2>{texts.appearance}</h2>
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
      <h2>{texts.keyboard}</h2>
      <label>
        <input type="checkbox" checked={areOn} onChange={(event) => setOn(event.target.checked)} />{" "}
        {m.shell.shortcutsOn}
      </label>
      <p className={css.quiet}>{texts.singleKeysHint}</p>
    </section>
  )
}

function Password() {
  return (
    <section>
      <h2>{texts.password}</h2>
      <p className={css.quiet}>{texts.passwordHint}</p>
      <PasswordForm onDone={() => toast(texts.changed)} />
    </section>
  )
}
