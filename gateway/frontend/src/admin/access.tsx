import { useQuery, useQueryClient } from "@tanstack/react-query"
import { api } from "../api/client"
import { Ago } from "../kit/ago"
import { Button } from "../kit/button"
import { Copied } from "../kit/copied"
import { Notice } from "../kit/dialog"
import { Field } from "../kit/field"
import { Ask, useFields } from "../kit/form"
import { Select } from "../kit/select"
import { complain, tell } from "../kit/toast"
import type { Role } from "../session/session"
import css from "./admin.module.css"
import type { UserRow } from "./change-user"
import { ROLE_OPTIONS } from "./user-columns"
import { texts } from "./words"

const words = texts.users.access
const INVITATIONS = ["invitations"]

/** A link that is good once, for a person who is told of it in another way. */
export type OneTimeLink = { title: string; hint: string; link: string }

/** Return a link by which somebody chooses a new password; without one, say why there is none. */
export async function passwordLink({ id, full_name }: UserRow): Promise<OneTimeLink | undefined> {
  try {
    const { link } = await api.post("/api/v1/users/{user_id}/password-reset", { params: { path: { user_id: id } } })
    return { title: words.resetTitle(full_name), hint: words.resetHint, link: whole(link) }
  } catch (problem) {
    complain(problem)
  }
}

/** Sign somebody out everywhere. */
export async function endSessions({ id, full_name }: UserRow): Promise<void> {
  const params = { path: { user_id: id } }
  await tell(api.delete("/api/v1/users/{user_id}/sessions", { params }), words.signedOut(full_name))
}

/** Take the second factor from somebody whose phone is lost, which signs them out. */
export async function removeSecondFactor({ id, full_name }: UserRow): Promise<void> {
  const params = { path: { user_id: id } }
  await tell(api.delete("/api/v1/users/{user_id}/second-factor", { params }), words.factorGone(full_name))
}

/** A dialog that shows a link this once. */
export function LinkDialog({ title, hint, link, close }: OneTimeLink & { close: () => void }) {
  return (
    <Notice title={title} close={close} stays>
      <p>{hint}</p>
      <p className={css.link}>
        <Copied text={link} />
      </p>
    </Notice>
  )
}

/** A dialog that invites somebody, below those who were invited and have not come yet. */
export function Invite({ close, show }: { close: () => void; show: (link: OneTimeLink) => void }) {
  const queries = useQueryClient()
  const { values, of } = useFields({ email: "", role: "viewer" as Role })
  const open = useQuery({
    queryKey: INVITATIONS,
    queryFn: ({ signal }) => api.get("/api/v1/users/invitations", { params: { query: { limit: 50 } }, signal }),
  })
  const again = () => queries.invalidateQueries({ queryKey: INVITATIONS })
  async function invite() {
    const { link } = await api.post("/api/v1/users/invitations", { body: values })
    void again()
    close()
    show({ title: words.invited(values.email), hint: words.invitedHint, link: whole(link) })
  }
  async function revoke(invitation_id: number) {
    await api
      .delete("/api/v1/users/invitations/{invitation_id}", { params: { path: { invitation_id } } })
      .catch(complain)
    await again()
  }
  return (
    <Ask title={words.invite} action={words.inviteIt} run={invite} close={close}>
      {(errors) => (
        <>
          <Field
            label={texts.users.email}
            type="email"
            autoComplete="off"
            autoFocus
            isRequired
            {...of("email", errors)}
          />
          <Select label={texts.users.role} options={ROLE_OPTIONS} {...of("role")} />
          {open.data && open.data.items.length > 0 && (
            <section>
              <h3>{words.waiting}</h3>
              <ul>
                {open.data.items.map(({ id, email: whose, created_at }) => (
                  <li key={id}>
                    {whose} <Ago iso={created_at} />{" "}
                    <Button look="quiet" aria-label={words.revokeOne(whose)} onPress={() => void revoke(id)}>
                      {words.revoke}
                    </Button>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </>
      )}
    </Ask>
  )
}

/** Return the link as it is opened elsewhere: where no public address is set, it begins with its path. */
function whole(link: string): string {
  return new URL(link, location.origin).href
}
