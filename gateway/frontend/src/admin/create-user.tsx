import { useQueryClient } from "@tanstack/react-query"
import { api } from "../api/client"
import { Ask, useFields } from "../kit/form"
import { Select } from "../kit/select"
import { toast } from "../kit/toast"
import { AccountFields, madeAccount, NEW_ACCOUNT } from "../session/account-fields"
import type { Role } from "../session/session"
import { USERS } from "./change-user"
import { ROLE_OPTIONS } from "./user-columns"
import { texts } from "./words"

const words = texts.users

/** A dialog that makes an account for somebody. */
export function CreateUser({ close }: { close: () => void }) {
  const client = useQueryClient()
  const { values, of } = useFields({ ...NEW_ACCOUNT, role: "viewer" as Role })
  async function create() {
    const { full_name } = await madeAccount(api.post("/api/v1/users", { body: values }))
    void client.invalidateQueries({ queryKey: USERS })
    toast(words.created(full_name))
    close()
  }
  return (
    <Ask title={words.create} action={words.createIt} run={create} close={close}>
      {(errors) => (
        <>
          <AccountFields of={of} errors={errors} isForOther passwordHint={words.passwordHint} />
          <Select label={words.role} options={ROLE_OPTIONS} {...of("role")} />
        </>
      )}
    </Ask>
  )
}
