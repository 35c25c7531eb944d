import { useState } from "react"
import { useForm } from "../kit/form"
import { m } from "../messages"
import { AccountFields, madeAccount, useNewAccount } from "./account-fields"
import { LoneForm } from "./lone-form"
import { register } from "./session"
import { useLeave } from "./use-leave"

/** Where somebody makes an account, and is signed in with it. */
export default function Register() {
  useLeave()
  const made = useNewAccount()
  const [done, setDone] = useState("")
  const { fields, ...form } = useForm(async () => setDone(await madeAccount(register(made.account))))
  return (
    <LoneForm
      title={m.session.register}
      hint={m.session.registerHint}
      action={m.session.register}
      done={done}
      {...form}
    >
      <AccountFields {...made} errors={fields} passwordHint={m.session.passwordHint} />
    </LoneForm>
  )
}
