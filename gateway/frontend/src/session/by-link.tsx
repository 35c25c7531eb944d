import { type ReactNode, useState } from "react"
import { Link, useLocation } from "wouter"
import { Button } from "../kit/button"
import { Field } from "../kit/field"
import { useFields, useForm } from "../kit/form"
import { useTitle } from "../kit/page"
import { m } from "../messages"
import { NewPassword } from "./account-fields"
import { LoneForm } from "./lone-form"
import css from "./page.module.css"
import { acceptInvitation, forgotPassword, resetPassword, singleSignOn, useSession } from "./session"
import { signOut } from "./sign-out"
import { SingleSignOn, useSingleSignOn } from "./single-sign-on"
import { texts } from "./words"

/** The secret of the link that led here; it is in no request but the one that uses it. */
const secret = () => location.hash.slice(1)

/** Where somebody who was invited makes an account, here or by single sign-on, and is signed in with it. */
export function AcceptInvitation() {
  return (
    <UnlessSignedIn title={m.session.invited}>
      <Invited />
    </UnlessSignedIn>
  )
}

function Invited() {
  const way = useSingleSignOn()
  const [, go] = useLocation()
  const { values, of } = useFields({ full_name: "", password: "" })
  const { fields, ...form } = useForm(async () => {
    await acceptInvitation(secret(), values.full_name, values.password)
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
        {...of("full_name", fields)}
      />
      <NewPassword label={m.session.password} hint={m.session.passwordHint} {...of("password", fields)} />
    </LoneForm>
  )
}

/** Where somebody asks for a link by mail. */
export function ForgotPassword() {
  const { values, of } = useFields({ email: "" })
  const [done, setDone] = useState("")
  const { fields, ...form } = useForm(async () => setDone(await forgotPassword(values.email)))
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
        {...of("email", fields)}
      />
    </LoneForm>
  )
}

/** Where somebody chooses a password by a link. */
export function ResetPassword() {
  return (
    <UnlessSignedIn title={m.session.reset}>
      <Reset />
    </UnlessSignedIn>
  )
}

function Reset() {
  const { values, of } = useFields({ new_password: "" })
  const [done, setDone] = useState("")
  const { fields, ...form } = useForm(async () => {
    await resetPassword(secret(), values.new_password)
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
      <NewPassword label={texts.newPassword} hint={m.session.passwordHint} {...of("new_password", fields)} />
    </LoneForm>
  )
}

/** What a link is for; whoever is signed in as they open it may be another than it was made for, and is told so. */
function UnlessSignedIn({ title, children }: { title: string; children: ReactNode }) {
  const session = useSession()
  const [wasOut, setWasOut] = useState(false)
  if (session.state === "signed-out" && !wasOut) setWasOut(true)
  useTitle(title)
  if (wasOut || session.state !== "signed-in") return children
  return (
    <main className={css.page}>
      <header>
        <h1>{title}</h1>
        <p role="alert">{m.session.linkOfAnother(session.user.email)}</p>
      </header>
      <Button onPress={() => void signOut()}>{m.shell.signOut}</Button>
      <p>
        <Link href="/">{m.session.stay}</Link>
      </p>
    </main>
  )
}

/** Return what is said where the address was copied without what stands behind its #. */
function noLink(fields: Record<string, string>) {
  return fields["/token"] && <p role="alert">{m.session.noLink}</p>
}
