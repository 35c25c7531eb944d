import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import * as v from "valibot"
import { api } from "../api/client"
import { Button } from "../kit/button"
import { Choice } from "../kit/choice"
import { Field } from "../kit/field"
import { optionsOf } from "../kit/filter"
import { Ask, useFields } from "../kit/form"
import { Page } from "../kit/page"
import { Search } from "../kit/search"
import { useShortcuts } from "../kit/shortcuts"
import { Empty, NotYet } from "../kit/states"
import { tell } from "../kit/toast"
import { formatMoment, m } from "../messages"
import { useUser } from "../session/session"
import { useUrl } from "../url"
import css from "./page.module.css"
import { homeOf, type ListedProject, PROJECTS } from "./queries"
import { words } from "./words"

const URL_FIELDS = { search: v.optional(v.string()) }
const LIMIT = 100

/** The projects that somebody has access to; for admins a way to make one, and to restore a deleted one. */
export default function ProjectsPage() {
  const isAdmin = useUser().role === "admin"
  const [{ search }, setUrl] = useUrl(URL_FIELDS)
  const [isCreating, setCreating] = useState(false)
  const read = useInfiniteQuery({
    queryKey: [...PROJECTS, "list", search],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: LIMIT, ...(search && { q: search }), ...(pageParam && { after: pageParam }) }
      return api.get("/api/v1/projects", { params: { query }, signal })
    },
    initialPageParam: "",
    getNextPageParam: ({ next_after }) => next_after,
  })
  const create = () => setCreating(true)
  useShortcuts(isAdmin ? [{ keys: "c", label: words.create, run: create }] : [])
  const projects = read.data?.pages.flatMap(({ items }) => items)
  return (
    <Page
      title={m.projects.title}
      actions={
        isAdmin && (
          <Button look="primary" keys="c" onPress={create}>
            {words.create}
          </Button>
        )
      }
    >
      <search aria-label={words.search}>
        <Search
          label={words.search}
          value={search ?? ""}
          onChange={(next) => setUrl({ search: next }, { replace: true })}
        />
      </search>
      <NotYet query={read} />
      {projects?.length === 0 && <Empty title={words.noMatch} />}
      {projects && projects.length > 0 && (
        <ul className={css.list}>
          {projects.map((project) => (
            <Line key={project.key} project={project} />
          ))}
        </ul>
      )}
      {read.hasNextPage && (
        <div>
          <Button onPress={() => void read.fetchNextPage()}>{words.more}</Button>
        </div>
      )}
      {isAdmin && <Deleted />}
      {isCreating && <CreateProject close={() => setCreating(false)} />}
    </Page>
  )
}

function Line({ project: { key, name, visibility, archived, role } }: { project: ListedProject }) {
  return (
    <li>
      <span className={css.key}>{key}</span>
      <a href={homeOf(key)}>{name}</a>
      <span className={`${css.quiet} ${css.end}`}>
        {archived && `${m.projects.archived} · `}
        {words.visibilities[visibility]} · {m.common.roles[role]}
      </span>
    </li>
  )
}

function Deleted() {
  const queries = useQueryClient()
  const read = useQuery({
    queryKey: [...PROJECTS, "deleted"],
    queryFn: ({ signal }) =>
      api.get("/api/v1/projects", { params: { query: { deleted: true, limit: LIMIT } }, signal }),
  })
  async function restore(key: string) {
    await api.post("/api/v1/projects/{key}/restore", { params: { path: { key } } })
    await queries.invalidateQueries({ queryKey: PROJECTS })
  }
  const projects = read.data?.items ?? []
  return (
    projects.length > 0 && (
      <section>
        <h2 id="deleted">{words.deleted}</h2>
        <ul className={css.list} aria-labelledby="deleted">
          {projects.map(({ key, name, restorable_until }) => (
            <li key={key}>
              <span className={css.key}>{key}</span>
              <span>{name}</span>
              <span className={`${css.quiet} ${css.end}`}>
                {restorable_until && words.restorableUntil(formatMoment(restorable_until))}
              </span>
              <Button
                look="quiet"
                aria-label={words.restoreOne(name)}
                onPress={() => void tell(restore(key), words.restored(name))}
              >
                {words.restore}
              </Button>
            </li>
          ))}
        </ul>
      </section>
    )
  )
}

function CreateProject({ close }: { close: () => void }) {
  const { values, of } = useFields({ key: "", name: "", visibility: "members" as ListedProject["visibility"] })
  async function create() {
    const body = { ...values, key: values.key.trim().toUpperCase() }
    const made = await api.post("/api/v1/projects", { body })
    location.assign(homeOf(made.key))
  }
  return (
    <Ask title={words.create} action={words.createIt} run={create} close={close}>
      {(errors) => (
        <>
          <Field label={words.name} isRequired autoFocus {...of("name", errors)} />
          <Field label={words.key} hint={words.keyHint} isRequired {...of("key", errors)} />
          <Choice label={words.visibility} options={optionsOf(words.visibilities)} {...of("visibility")} />
        </>
      )}
    </Ask>
  )
}
