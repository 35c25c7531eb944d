import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { api } from "../api/client"
import { Button } from "../kit/button"
import { Finder } from "../kit/finder"
import { InlineSelect } from "../kit/inline-select"
import { NotYet } from "../kit/states"
import { tell } from "../kit/toast"
import { m } from "../messages"
import { type Role, useUser } from "../session/session"
import { projectKey } from "./address"
import css from "./page.module.css"
import { PROJECTS } from "./queries"
import { words as screens } from "./words"

const words = screens.members
const MOST = 500
const MOST_FOUND = 8
const ROLE_OPTIONS = (["viewer", "reviewer", "admin"] as const).map((value) => ({
  value,
  label: m.common.roles[value],
}))

/** Who is a member of the project, and with which role. */
export function Members({ isReadOnly }: { isReadOnly: boolean }) {
  const queries = useQueryClient()
  const mayFind = useUser().role === "admin"
  const [isAdding, setAdding] = useState(false)
  const path = { key: projectKey() }
  const read = useQuery({
    queryKey: [...PROJECTS, projectKey(), "members"],
    queryFn: ({ signal }) =>
      api.get("/api/v1/projects/{key}/members", { params: { path, query: { limit: MOST } }, signal }),
  })
  async function run(work: Promise<unknown>, said: string) {
    await tell(work, said)
    await queries.invalidateQueries({ queryKey: PROJECTS })
  }
  const put = (user_id: number, name: string, role: Role) => {
    const change = { params: { path: { ...path, user_id } }, body: { role } }
    void run(api.put("/api/v1/projects/{key}/members/{user_id}", change), words.is(name, m.common.roles[role]))
  }
  const remove = (user_id: number, name: string) => {
    const change = { params: { path: { ...path, user_id } } }
    void run(api.delete("/api/v1/projects/{key}/members/{user_id}", change), words.removed(name))
  }
  const members = read.data?.items
  return (
    <section>
      <h2>{words.title}</h2>
      <NotYet query={read} rows={3} />
      {members?.length === 0 && <p className={css.quiet}>{words.none}</p>}
      {members && members.length > 0 && (
        <ul className={css.list}>
          {members.map(({ user_id, full_name, email, role }) => (
            <li key={user_id}>
              <span title={email}>{full_name}</span>
              <span className={css.quiet}>{email}</span>
              <span className={css.end}>
                <InlineSelect
                  label={words.roleOf(full_name)}
                  value={role}
                  options={ROLE_OPTIONS}
                  isDisabled={isReadOnly}
                  onChange={(next) => put(user_id, full_name, next)}
                />{" "}
                <Button
                  look="quiet"
                  isDisabled={isReadOnly}
                  aria-label={words.removeOne(full_name)}
                  onPress={() => remove(user_id, full_name)}
                >
                  {words.remove}
                </Button>
              </span>
            </li>
          ))}
        </ul>
      )}
      {!isReadOnly && mayFind && !isAdding && <Button onPress={() => setAdding(true)}>{words.add}</Button>}
      {!isReadOnly && !mayFind && <p className={css.quiet}>{words.onlyAdminsAdd}</p>}
      {isAdding && (
        <FindUser
          close={() => setAdding(false)}
          choose={({ id, full_name }) => {
            setAdding(false)
            put(id, full_name, "viewer")
          }}
        />
      )}
    </section>
  )
}

type Found = { id: number; full_name: string; email: string }

function FindUser({ choose, close }: { choose: (user: Found) => void; close: () => void }) {
  const [text, setText] = useState("")
  const found = useQuery({
    queryKey: ["users", "found", text],
    queryFn: ({ signal }) =>
      api.get("/api/v1/users", { params: { query: { q: text, is_active: true, limit: MOST_FOUND } }, signal }),
    enabled: text !== "",
  })
  return (
    <Finder
      label={words.add}
      placeholder={words.find}
      found={text ? found.data?.items : []}
      onType={setText}
      onChoose={choose}
      onClose={close}
      keyOf={({ id }: Found) => String(id)}
      nothing={words.noUser}
    >
      {({ full_name, email }: Found) => `${full_name} · ${email}`}
    </Finder>
  )
}
