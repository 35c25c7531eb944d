import { useEffect } from "react"
import { useLocation, useSearchParams } from "wouter"
import { useTitle } from "../kit/page"
import { m } from "../messages"
import css from "./page.module.css"
import { useSession } from "./session"
import { SignInForm } from "./sign-in-form"

/** Where somebody signs in, and is then led to what was asked for. */
export function SignIn() {
  const session = useSession()
  const [, go] = useLocation()
  const [search] = useSearchParams()
  const next = ownPath(search.get("next"))
  useTitle(m.session.signIn)
  useEffect(() => {
    if (session.state === "signed-in") go(next, { replace: true })
  }, [session.state, next, go])
  return (
    <main className={css.page}>
      <h1>{m.common.product}</h1>
      <SignInForm demo={session.state === "signed-out" ? session.demo : undefined} />
    </main>
  )
}

/** Return a path of this page only: nobody is sent elsewhere by a link that he was given. */
export function ownPath(next: string | null): string {
  if (!next?.startsWith("/")) return "/"
  const address = new URL(next, location.origin)
  return address.origin === location.origin ? address.pathname + address.search : "/"
}
