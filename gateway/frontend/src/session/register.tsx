import { useState } from "react"
import { useFields, useForm } from "../kit/form"
import { m } from "../messages"
import { AccountFields, madeAccount, NEW_ACCOUNT } from "./account-fields"
import { LoneForm } from "./lone-form"
import { register } from "./session"
import { useLeave } from "./use-leave"

/** Where somebody makes an account, and is signed in with it. */
export default function Register() {
  useLeave()
  const { values, of } = useFields(NEW_ACCOUNT)
  const [done, setDone] = useState("")
  const { fields, ...form } = useForm(async () => setDone(await madeAccount(register(values))))
  return (
    <LoneForm
      title={m.session.register}
      hint={m.session.registerHint}
      action={m.session.register}
      done={done}
      {...form}
    >
      <AccountFields of={of} errors={fields} passwordHint={m.session.passwordHint} />
    </LoneForm>
  )
}
