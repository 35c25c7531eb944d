import { useState } from "react"
import { ApiProblem } from "../api/problem"
import { Button } from "../kit/button"
import { Choice } from "../kit/choice"
import { Field } from "../kit/field"
import { optionsOf } from "../kit/filter"
import { useForm } from "../kit/form"
import { Page } from "../kit/page"
import { useSingleKeys } from "../kit/shortcuts"
import { toast } from "../kit/toast"
import { m } from "../messages"
import { type Density, prefer, type Theme, usePreferences } from "../shell/preferences"
import css from "./account.module.css"
import { NewPassword } from "./account-fields"
import { changePassword, signOut, useUser } from "./session"

/** Who one is, how the page looks and behaves in this browser, and the password. */
export default function Account() {
  return (
    <Page title={m.account.title}>
      <div className={css.sections}>
        <You />
        <Appearance />
        <Keyboard />
        <Password />
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
  const user = useUser()
  const [current, setCurrent] = useState("")
  const [next, setNext] = useState("")
  const { isSending, fields, failure, onSubmit } = useForm(async () => {
    await changePassword(user, current, next).catch((error) => {
      throw error instanceof ApiProblem
        ? error.at("invalid_credentials", "/current_password", m.account.wrongPassword)
        : error
    })
    setCurrent("")
    setNext("")
    toast(m.account.changed)
  })
  return (
    <section>
      <h2>{m.account.password}</h2>
      <p className={css.quiet}>{m.account.passwordHint}</p>
      <form className={css.form} onSubmit={onSubmit}>
        {/* For who keeps passwords: whose it is. */}
        <input hidden readOnly autoComplete="username" value={user.email} />
        <Field
          label={m.account.currentPassword}
          type="password"
          autoComplete="current-password"
          isRequired
          value={current}
          error={fields["/current_password"]}
          onChange={setCurrent}
        />
        <NewPassword
          label={m.account.newPassword}
          hint={m.session.passwordHint}
          value={next}
          error={fields["/new_password"]}
          onChange={setNext}
        />
        {failure}
        <Button type="submit" isDisabled={isSending}>
          {isSending ? m.account.changing : m.account.changePassword}
        </Button>
      </form>
    </section>
  )
}
