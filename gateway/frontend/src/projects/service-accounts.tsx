import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { api } from "../api/client"
import { Button } from "../kit/button"
import { Field } from "../kit/field"
import { Ask, useFields } from "../kit/form"
import { Select } from "../kit/select"
import { NotYet } from "../kit/states"
import { toast } from "../kit/toast"
import { m } from "../messages"
import css from "../session/account.module.css"
import { TokenList, type TokenOwner } from "../session/api-tokens"
import { projectKey } from "./address"
import { PROJECTS } from "./queries"
import { words as screens } from "./words"

const words = screens.serviceAccounts
const MOST = 500
const ROLES = (["viewer", "reviewer"] as const).map((value) => ({ value, label: m.common.roles[value] }))
type ServiceRole = (typeof ROLES)[number]["value"]
type Account = { id: number; name: string }
const keyOf = () => [...PROJECTS, projectKey(), "service-accounts"]

/** What works in the project without being a person, each with its tokens. */
export function ServiceAccounts({ isReadOnly }: { isReadOnly: boolean }) {
  const queries = useQueryClient()
  const [isMaking, setMaking] = useState(false)
  const [ending, setEnding] = useState<Account>()
  const [open, setOpen] = useState<number>()
  const key = projectKey()
  const read = useQuery({
    queryKey: keyOf(),
    queryFn: ({ signal }) =>
      api.get("/api/v1/projects/{key}/service-accounts", { params: { path: { key }, query: { limit: MOST } }, signal }),
  })
  async function remove({ id, name }: Account) {
    const params = { path: { key, user_id: id } }
    // Its tokens are read no more: there are none behind the next line.
    setOpen(undefined)
    await api.delete("/api/v1/projects/{key}/service-accounts/{user_id}", { params })
    setEnding(undefined)
    toast(words.removed(name))
    await queries.invalidateQueries({ queryKey: PROJECTS })
  }
  return (
    <section>
      <h2>{words.title}</h2>
      <p className={css.quiet}>{words.hint}</p>
      <NotYet query={read} rows={2} />
      <ul className={css.list}>
        {read.data?.items.map(({ id, name, email, role }) => (
          <li key={id}>
            <details
              open={open === id}
              onToggle={({ currentTarget: { open: isOpen } }) =>
                setOpen((was) => (isOpen ? id : was === id ? undefined : was))
              }
            >
              <summary title={email}>
                {name} <span className={css.quiet}>{m.common.roles[role]}</span>
              </summary>
              {open === id && <TokenList owner={tokensOf(id, isReadOnly)} />}
            </details>
            {!isReadOnly && (
              <Button look="quiet" aria-label={words.removeOne(name)} onPress={() => setEnding({ id, name })}>
                {words.remove}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {!isReadOnly && <Button onPress={() => setMaking(true)}>{words.make}</Button>}
      {isMaking && (
        <NewAccount
          close={() => setMaking(false)}
          onMade={(id) => {
            setMaking(false)
            setOpen(id)
            void queries.invalidateQueries({ queryKey: PROJECTS })
          }}
        />
      )}
      {ending && (
        <Ask
          title={words.removeOne(ending.name)}
          action={words.remove}
          look="danger"
          focus="cancel"
          run={() => remove(ending)}
          close={() => setEnding(undefined)}
        >
          <p>{words.removeHint}</p>
        </Ask>
      )}
    </section>
  )
}

/** Return where the tokens of a service account are read, made and revoked. */
function tokensOf(user_id: number, isReadOnly: boolean): TokenOwner {
  const path = { key: projectKey(), user_id }
  const tokens = "/api/v1/projects/{key}/service-accounts/{user_id}/tokens"
  return {
    queryKey: [...keyOf(), String(user_id), "tokens"],
    read: (signal) => api.get(tokens, { params: { path, query: { limit: MOST } }, signal }),
    make: (body) => api.post(tokens, { params: { path }, body }),
    revoke: (token_id) => api.delete(`${tokens}/{token_id}`, { params: { path: { ...path, token_id } } }),
    isOfProject: true,
    isReadOnly,
  }
}

function NewAccount({ close, onMade }: { close: () => void; onMade: (id: number) => void }) {
  const { values, of } = useFields({ name: "", role: "viewer" as ServiceRole })
  async function make() {
    const params = { path: { key: projectKey() } }
    onMade((await api.post("/api/v1/projects/{key}/service-accounts", { params, body: values })).id)
  }
  return (
    <Ask title={words.make} action={words.makeIt} run={make} close={close}>
      {(errors) => (
        <>
          <Field
            label={screens.name}
            hint={words.nameHint}
            autoFocus
            isRequired
            maxLength={40}
            {...of("name", errors)}
          />
          <Select label={words.role} options={ROLES} {...of("role")} />
        </>
      )}
    </Ask>
  )
}
