import { useState } from "react"
import { useLocation } from "wouter"
import { Field } from "../kit/field"
import { useForm } from "../kit/form"
import { m } from "../messages"
import { NewPassword } from "./account-fields"
import { LoneForm } from "./lone-form"
import { acceptInvitation, forgotPassword, resetPassword, singleSignOn } from "./session"
import { SingleSignOn, useSingleSignOn } from "./single-sign-on"
import { texts } from "./words"

/** The secret of the link that led here; it is in no request but the one that uses it. */
const secret = () => location.hash.slice(1)

/** Where somebody who was invited makes an account, here or by single sign-on, and is signed in with it. */
export function AcceptInvitation() {
  const way = useSingleSignOn()
  const [, go] = useLocation()
  const [full_name, setName] = useState("")
  const [password, setPassword] = useState("")
  const { fields, ...form } = useForm(async () => {
    await acceptInvitation(secret(), full_name, password)
    go("/", { replace: true })
  })
  return (
    <LoneForm
      title={m.session.invited}
      hint={way === "only" ? m.session.invitedByOther : m.session.invitedHint}
      action={m.session.accept}
      other={<SingleSignOn onPress={() => location.assign(singleSignOn("/"))} />}
      isOtherOnly={way === "only"}
      {...form}
      failure={form.failure ?? noLink(fields)}
    >
      <Field
        label={m.session.name}
        autoComplete="name"
        autoFocus
        isRequired
        maxLength={200}
        value={full_name}
        error={fields["/full_name"]}
        onChange={setName}
      />
      <NewPassword
        label={m.session.password}
        hint={m.session.passwordHint}
        value={password}
        error={fields["/password"]}
        onChange={setPassword}
      />
    </LoneForm>
  )
}

/** Where somebody asks for a link by mail. */
export function ForgotPassword() {
  const [email, setEmail] = useState("")
  const [done, setDone] = useState("")
  const { fields, ...form } = useForm(async () => setDone(await forgotPassword(email)))
  return (
    <LoneForm
      title={m.session.forgotten}
      hint={m.session.forgottenHint}
      action={m.session.sendLink}
      done={done}
      {...form}
    >
      <Field
        label={m.session.email}
        type="email"
        autoComplete="username"
        autoFocus
        isRequired
        value={email}
        error={fields["/email"]}
        onChange={setEmail}
      />
    </LoneForm>
  )
}

/** Where somebody chooses a password by a link. */
export function ResetPassword() {
  const [password, setPassword] = useState("")
  const [done, setDone] = useState("")
  const { fields, ...form } = useForm(async () => {
    await resetPassword(secret(), password)
    setDone(m.session.resetDone)
  })
  return (
    <LoneForm
      title={m.session.reset}
      hint={m.session.resetHint}
      action={m.session.setPassword}
      done={done}
      {...form}
      failure={form.failure ?? noLink(fields)}
    >
      <NewPassword
        label={texts.newPassword}
        hint={m.session.passwordHint}
        value={password}
        error={fields["/new_password"]}
        onChange={setPassword}
      />
    </LoneForm>
  )
}

/** Return what is said where the address was copied without what stands behind its #. */
function noLink(fields: Record<string, string>) {
  return fields["/token"] && <p role="alert">{m.session.noLink}</p>
}
