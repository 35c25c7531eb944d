import { useQuery } from "@tanstack/react-query"
import { Link, useSearchParams } from "wouter"
import { Button } from "../kit/button"
import { useTitle } from "../kit/page"
import { m } from "../messages"
import css from "./page.module.css"
import { type Account, singleSignOn, useSession, waysIn } from "./session"
import { SignInError, SignInForm } from "./sign-in-form"
import { SingleSignOn, useSingleSignOn } from "./single-sign-on"
import { ownPath, useLeave } from "./use-leave"
import { useSignIn } from "./use-sign-in"

/** Where somebody signs in, and is then led to what was asked for. */
export function SignIn() {
  const session = useSession()
  useTitle(m.session.signIn)
  useLeave()
  return (
    <main className={css.page}>
      <header>
        <h1>{m.common.product}</h1>
        <p className={css.quiet}>{m.session.purpose}</p>
      </header>
      {session.state === "signed-out" && session.demo && <Demo account={session.demo} />}
      {session.state !== "loading" && !(session.state === "signed-out" && session.demo) && <Ways />}
    </main>
  )
}

/** A password, or the identity provider, where there is one. */
function Ways() {
  const way = useSingleSignOn()
  const [search] = useSearchParams()
  const next = ownPath(search.get("next"), location.origin)
  return (
    <>
      <SingleSignOn onPress={() => location.assign(singleSignOn(next))} />
      {way === "only" ? (
        <details className={css.other}>
          <summary>{m.session.breakGlass}</summary>
          <SignInForm />
        </details>
      ) : (
        <>
          <SignInForm />
          <OtherWays />
        </>
      )}
    </>
  )
}

/** What helps who has no account here, or no password any more. */
function OtherWays() {
  const { data } = useQuery({ queryKey: ["ways-in"], queryFn: waysIn })
  if (!data) return null
  const { registration, domains, sends_mail } = data
  const mayRegister = registration === "open" || registration === "domains"
  return (
    <>
      <p className={css.quiet}>
        {m.session.noAccount} {mayRegister && <Link href={`/register${location.search}`}>{m.session.register}</Link>}{" "}
        {registration === "domains" && m.session.onlyDomains(domains.join(", "))}
        {registration === "invited" && m.session.byInvitation}
        {registration === "closed" && m.session.closed}
      </p>
      <p className={css.quiet}>
        {sends_mail ? <Link href="/forgot-password">{m.session.forgotten}</Link> : m.session.forgottenNoMail}
      </p>
    </>
  )
}

function Demo({ account }: { account: Account }) {
  const { send, isHeld, error } = useSignIn()
  return (
    <>
      <div className={css.form}>
        <Button look="primary" autoFocus isDisabled={isHeld} onPress={() => void send(account.email, account.password)}>
          {m.session.demo}
        </Button>
        <p className={css.quiet}>{m.session.demoHint}</p>
        <SignInError error={error} />
      </div>
      <details className={css.other}>
        <summary>{m.session.otherAccount}</summary>
        <SignInForm />
      </details>
    </>
  )
}
