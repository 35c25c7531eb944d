import { useEffect } from "react"
import { Dialog } from "../kit/dialog"
import { m } from "../messages"
import { readSession, singleSignOn } from "./session"
import { SignInForm } from "./sign-in-form"
import { SingleSignOn } from "./single-sign-on"

/** Asks who was signed in to do so again, over the screen where the session has ended. */
export default function SignInAgain({ email }: { email: string }) {
  useEffect(() => {
    // At the identity provider one signs in in another tab, which keeps what is typed here, and comes back.
    const look = () => void readSession()
    addEventListener("focus", look)
    return () => removeEventListener("focus", look)
  }, [])
  return (
    <Dialog title={m.session.expired}>
      <p>{m.session.expiredHint}</p>
      <SingleSignOn onPress={() => open(singleSignOn("/"), "_blank", "noopener")} />
      <SignInForm email={email} />
    </Dialog>
  )
}
