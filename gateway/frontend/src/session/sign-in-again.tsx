import { Dialog } from "../kit/dialog"
import { m } from "../messages"
import { SignInForm } from "./sign-in-form"

/** Asks who was signed in to do so again, over the screen where the session has ended. */
export default function SignInAgain({ email }: { email: string }) {
  return (
    <Dialog title={m.session.expired} isOpen>
      <p>{m.session.expiredHint}</p>
      <SignInForm email={email} />
    </Dialog>
  )
}
