import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { api } from "../api/client"
import type { components } from "../api/schema"
import { Ago } from "../kit/ago"
import { Button } from "../kit/button"
import { Copied } from "../kit/copied"
import { Notice } from "../kit/dialog"
import { Field } from "../kit/field"
import { Ask, useFields } from "../kit/form"
import { NotYet } from "../kit/states"
import { tell } from "../kit/toast"
import { formatDay } from "../messages"
import { MAIN } from "../projects/address"
import css from "./account.module.css"
import { texts } from "./words"

type Schemas = components["schemas"]
type Scope = Schemas["Scope"]
const DAYS = 90
/** More than may be asked for, and still a date. */
const MOST_DAYS = 1_000_000
const MOST = 100
const DAY_MS = 86_400_000
const words = texts.tokens
const BADGES = ["verified", "coverage", "gate"]
const SCOPES = Object.keys(words.scopes) as Scope[]

/** Whose tokens they are: where they are read, made and revoked. */
export type TokenOwner = {
  queryKey: string[]
  read: (signal: AbortSignal) => Promise<{ items: Schemas["ApiToken"][] }>
  make: (token: Schemas["NewApiToken"]) => Promise<Schemas["MadeApiToken"]>
  revoke: (token_id: number) => Promise<unknown>
  /** Whether they are for one project, whatever is said, and whether more can be made. */
  isOfProject?: boolean
  isReadOnly?: boolean
}

const OWN: TokenOwner = {
  queryKey: ["tokens"],
  read: (signal) => api.get("/api/v1/auth/tokens", { params: { query: { limit: MOST } }, signal }),
  make: (body) => api.post("/api/v1/auth/tokens", { body }),
  revoke: (token_id) => api.delete("/api/v1/auth/tokens/{token_id}", { params: { path: { token_id } } }),
}

/** The tokens of one's pipelines and agents. */
export function ApiTokens() {
  return (
    <section>
      <h2>{words.title}</h2>
      <p className={css.quiet}>{words.hint}</p>
      <TokenList owner={OWN} />
    </section>
  )
}

/** What each token may, until when, and when it was last used. */
export function TokenList({ owner }: { owner: TokenOwner }) {
  const { queryKey } = owner
  const queries = useQueryClient()
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<Schemas["MadeApiToken"] | null>(null)
  const read = useQuery({ queryKey, queryFn: ({ signal }) => owner.read(signal) })
  const again = () => queries.invalidateQueries({ queryKey })
  async function revoke(token_id: number, name: string) {
    await tell(owner.revoke(token_id), words.revoked(name))
    await again()
  }
  return (
    <>
      <NotYet query={read} rows={2} />
      <ul className={css.list}>
        {read.data?.items.map(({ id, name, scopes, projects, expires_at, last_used_at }) => (
          <li key={id}>
            <span>
              <strong>{name}</strong> {[...scopes, ...(projects ?? [])].join(", ")}{" "}
              <span className={css.quiet}>
                {words.until(formatDay(expires_at))}{" "}
                {last_used_at ? (
                  <>
                    {words.used} <Ago iso={last_used_at} />
                  </>
                ) : (
                  words.unused
                )}
              </span>
            </span>
            <Button look="quiet" aria-label={words.revokeOne(name)} onPress={() => void revoke(id, name)}>
              {words.revoke}
            </Button>
          </li>
        ))}
      </ul>
      {!owner.isReadOnly && <Button onPress={() => setMaking(true)}>{words.make}</Button>}
      {isMaking && (
        <NewToken
          owner={owner}
          close={() => setMaking(false)}
          onMade={(made) => {
            setMaking(false)
            setMade(made)
            void again()
          }}
        />
      )}
      {made && (
        <Notice title={words.made} close={() => setMade(null)} stays>
          {made.token && (
            <>
              <p>{words.madeHint}</p>
              {shownOf(made, made.token).map((text) => (
                <p key={text} className={css.secret}>
                  <Copied text={text} />
                </p>
              ))}
            </>
          )}
          {made.warnings.map((warning) => (
            <p key={warning}>{warning}</p>
          ))}
        </Notice>
      )}
    </>
  )
}

/** The token itself, or what one of badges alone is for: the addresses of its pictures. */
function shownOf({ scopes, projects }: Schemas["MadeApiToken"], token: string) {
  if (scopes.join() !== "badge") return [token]
  return (projects ?? [MAIN]).flatMap((key) =>
    BADGES.map((name) => `${location.origin}/api/v1/projects/${key}/badges/${name}.svg?token=${token}`),
  )
}

type NewTokenProps = { owner: TokenOwner; close: () => void; onMade: (made: Schemas["MadeApiToken"]) => void }

function NewToken({ owner, close, onMade }: NewTokenProps) {
  const { values, of } = useFields({ name: "", projects: "", expires_at: String(DAYS) })
  const [scopes, setScopes] = useState<Scope[]>(["read"])
  async function make() {
    // What is no key is sent as well, to be refused: without any, a token is for all projects.
    const projects = values.projects.toUpperCase().match(/[^\s,;]+/g)
    const days = Math.min(Number(values.expires_at), MOST_DAYS)
    const expires_at = new Date(Date.now() + days * DAY_MS).toISOString()
    onMade(await owner.make({ name: values.name, scopes, projects, expires_at }))
  }
  return (
    <Ask title={words.make} action={words.makeIt} run={make} close={close} isReady={scopes.length > 0}>
      {(errors) => (
        <>
          <Field label={words.name} autoFocus isRequired maxLength={100} {...of("name", errors)} />
          <fieldset className={css.scopes}>
            <legend>{words.may}</legend>
            {SCOPES.map((scope) => (
              <label key={scope}>
                <input
                  type="checkbox"
                  checked={scopes.includes(scope)}
                  onChange={({ target }) =>
                    setScopes(target.checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))
                  }
                />{" "}
                {words.scopes[scope]}
              </label>
            ))}
          </fieldset>
          {!owner.isOfProject && <Field label={words.projects} hint={words.projectsHint} {...of("projects", errors)} />}
          <Field
            label={words.days}
            type="number"
            inputMode="numeric"
            isRequired
            pattern="[0-9]+"
            {...of("expires_at", errors)}
          />
        </>
      )}
    </Ask>
  )
}
