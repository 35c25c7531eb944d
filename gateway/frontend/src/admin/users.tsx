import { useQuery } from "@tanstack/react-query"
import { useMemo, useState } from "react"
import * as v from "valibot"
import { api } from "../api/client"
import { Button } from "../kit/button"
import { useEndless } from "../kit/endless"
import { EndlessTable } from "../kit/endless-table"
import { Filter, optionsOf } from "../kit/filter"
import { FilterBar } from "../kit/filter-bar"
import { Page, Rest } from "../kit/page"
import { Search } from "../kit/search"
import { useShortcuts } from "../kit/shortcuts"
import { Empty } from "../kit/states"
import { parseSort, writeSort } from "../kit/table"
import { formatCount, m } from "../messages"
import { useUser } from "../session/session"
import { useUrl } from "../url"
import { endSessions, Invite, LinkDialog, type OneTimeLink, passwordLink, removeSecondFactor } from "./access"
import css from "./admin.module.css"
import { type Asked, AskFirst, needsQuestion } from "./ask-first"
import { type Change, USERS, type UserRow, useChangeUser } from "./change-user"
import { CreateUser } from "./create-user"
import { EraseDialog } from "./erase"
import { AdminOnly } from "./only"
import { ROLE_OPTIONS, userColumns } from "./user-columns"
import { texts } from "./words"

const words = texts.users
const PAGE = 100
const text = v.optional(v.string())
const URL_FIELDS = {
  search: text,
  role: text,
  active: v.optional(v.picklist(["true", "false"])),
  erased: v.optional(v.picklist(["true"])),
  sort: v.optional(v.pipe(v.string(), v.regex(/^(created_at|email|full_name):(asc|desc)$/))),
}

export default function UsersPage() {
  return (
    <AdminOnly title={words.title} ofAll>
      <Users />
    </AdminOnly>
  )
}

function Users() {
  const [url, setUrl] = useUrl(URL_FIELDS)
  const query = useMemo(() => queryOf(url), [url])
  const list = useEndless([...USERS, query], (place, signal) =>
    api.get("/api/v1/users", { params: { query: { ...query, ...place } as never }, signal }),
  )
  const { data: count = 0 } = useQuery({
    queryKey: [...USERS, "erased"],
    queryFn: async ({ signal }) => {
      const params = { query: { is_erased: true, limit: 1 } }
      return (await api.get("/api/v1/users", { params, signal })).total
    },
  })
  const [isCreating, setCreating] = useState(false)
  const [isInviting, setInviting] = useState(false)
  const [link, setLink] = useState<OneTimeLink>()
  const [asked, setAsked] = useState<Asked>()
  const [erased, setErased] = useState<UserRow>()
  const change = useChangeUser()
  const { id: me } = useUser()
  const columns = useMemo(() => {
    const changeOrAsk = (user: UserRow, wanted: Change) =>
      needsQuestion(user, wanted, me) ? setAsked({ user, change: wanted }) : void change(user, wanted)
    const actions = (user: UserRow) => [
      { id: "password", label: words.access.reset, run: () => void passwordLink(user).then(setLink) },
      { id: "factor", label: words.access.noFactor, run: () => void removeSecondFactor(user) },
      { id: "sessions", label: words.access.signOut, run: () => void endSessions(user) },
      { id: "erase", label: words.erase.open, run: () => setErased(user) },
    ]
    return userColumns(me, changeOrAsk, actions)
  }, [me, change])
  useShortcuts([{ keys: "c", label: words.create, run: () => setCreating(true) }])
  return (
    <Page
      title={words.title}
      fill
      actions={
        <>
          <Button onPress={() => setInviting(true)}>{words.access.invite}</Button>
          <Button look="primary" keys="c" onPress={() => setCreating(true)}>
            {words.create}
          </Button>
        </>
      }
    >
      <FilterBar label={words.filters} count={list.page && words.count(list.page.total)}>
        <div className={css.search}>
          <Search
            label={words.search}
            value={url.search ?? ""}
            onChange={(search) => setUrl({ search }, { replace: true })}
          />
        </div>
        <Filter label={words.role} value={url.role} onChange={(role) => setUrl({ role })} options={ROLE_OPTIONS} />
        <Filter
          label={words.active}
          value={url.active}
          onChange={(active) => setUrl({ active })}
          options={optionsOf(words.states)}
          isSingle
        />
        {count > 0 && (
          <Button
            look={url.erased ? "plain" : "quiet"}
            aria-pressed={url.erased !== undefined}
            onPress={() => setUrl({ erased: url.erased ? undefined : "true" })}
          >
            {words.showErased(formatCount(count))}
          </Button>
        )}
      </FilterBar>
      <Rest>
        <EndlessTable
          list={list}
          waiting={12}
          label={words.title}
          columns={columns}
          none={
            <Empty title={words.noMatch} hint={words.noMatchHint}>
              <Button onPress={() => setUrl({ search: undefined, role: undefined, active: undefined })}>
                {m.common.clearFilters}
              </Button>
            </Empty>
          }
          onOpen={() => document.querySelector<HTMLElement>("[data-active] select")?.focus()}
          sort={parseSort(url.sort ?? "created_at:desc")}
          onSort={(sort) => setUrl({ sort: writeSort(sort) })}
        />
      </Rest>
      {asked && (
        <AskFirst
          asked={asked}
          me={me}
          close={() => setAsked(undefined)}
          run={({ user, change: wanted }) => void change(user, wanted)}
        />
      )}
      {erased && <EraseDialog user={erased} close={() => setErased(undefined)} />}
      {isInviting && <Invite close={() => setInviting(false)} show={setLink} />}
      {link && <LinkDialog {...link} close={() => setLink(undefined)} />}
      {isCreating && <CreateUser close={() => setCreating(false)} />}
    </Page>
  )
}

function queryOf({ search, role, active, erased, sort }: Partial<Record<keyof typeof URL_FIELDS, string>>) {
  return {
    limit: PAGE,
    ...(!erased && { is_erased: false }),
    ...(search && { q: search }),
    ...(role && { role }),
    ...(active && { is_active: active }),
    ...(sort && { sort }),
  }
}
