import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import * as v from "valibot"
import { api } from "../api/client"
import { readFacet } from "../items/api"
import { type Item, TEST_CASES } from "../items/kinds"
import { LIST_URL, type ListUrl } from "../items/query"
import { Button } from "../kit/button"
import { Choice } from "../kit/choice"
import { Field } from "../kit/field"
import { Page } from "../kit/page"
import { Select } from "../kit/select"
import { Empty, NotYet } from "../kit/states"
import { m } from "../messages"
import { useMay } from "../session/session"
import { changed, useUrl, writeAlternatives } from "../url"
import { said } from "./by-hand-words"
import { Runner } from "./runner-by-hand"
import css from "./session.module.css"
import { words } from "./words"

/** Test cases of one session: that many can be read at once, and nobody runs more in one go. */
const MOST = 500
const SETS = { open: "!passed", stale: "stale", never: "not_run,skipped", every: undefined } as const
const KINDS = { manual: "manual", every: undefined } as const
const text = v.optional(v.string())
const URL_FIELDS = {
  ...LIST_URL,
  set: v.optional(v.picklist(Object.keys(SETS) as (keyof typeof SETS)[]), "open"),
  kinds: v.optional(v.picklist(Object.keys(KINDS) as (keyof typeof KINDS)[]), "manual"),
  ids: text,
  environment: text,
  commit: text,
  going: text,
}
const FIELDS = "id,external_id,title,module,description,preconditions,steps,postconditions,test_data"

type Cases = { items: Item[]; total: number }

/** Test cases one after the other, run by a person. */
export default function SessionPage() {
  const mayRecord = useMay("reviewer")
  if (mayRecord) return <Session />
  return (
    <Page title={said.title}>
      <Empty title={said.mayNot} hint={said.mayNotHint} />
    </Page>
  )
}

function Session() {
  const [url, setUrl] = useUrl(URL_FIELDS)
  const query = queryOf(url)
  const read = useQuery({
    queryKey: ["test-cases", "by hand", query],
    queryFn: async ({ signal }) => {
      const asked = { ...query, fields: FIELDS, limit: MOST, sort: "external_id" } as never
      return (await api.get("/api/v1/test-cases", { params: { query: asked }, signal })) as unknown as Cases
    },
    // Which test cases these are does not change while somebody runs them.
    meta: { live: false },
    staleTime: Number.POSITIVE_INFINITY,
  })
  const { environment, commit } = url
  if (url.going && read.data)
    return (
      <Runner
        cases={read.data.items}
        name={changed("", { ...query, environment, commit })}
        given={{ ...(environment && { environment }), ...(commit && { commit }) }}
        leave={() => setUrl({ going: undefined })}
      />
    )
  return (
    <Page title={said.title}>
      <form
        className={css.setup}
        onSubmit={(event) => {
          event.preventDefault()
          if (read.data && read.data.items.length > 0) setUrl({ going: "1" })
        }}
      >
        <p className={css.quiet}>{said.hint}</p>
        {url.ids ? null : <Which url={url} setUrl={setUrl} />}
        <Written
          values={{ environment, commit }}
          change={(name, value) => setUrl({ [name]: value }, { replace: true })}
        />
        {read.data ? <Found cases={read.data} isChosen={url.ids !== undefined} /> : <NotYet query={read} rows={2} />}
        <div>
          <Button type="submit" look="primary" isDisabled={!read.data || read.data.items.length === 0}>
            {said.start}
          </Button>
        </div>
      </form>
    </Page>
  )
}

/** Return the query of the API: without an end that somebody chose, deprecated test cases are left out. */
function queryOf(url: Record<string, string | undefined> & { set: keyof typeof SETS; kinds: keyof typeof KINDS }) {
  if (url.ids) return { ids: url.ids }
  const filters = Object.fromEntries(
    ["search", ...TEST_CASES.facets].flatMap((name) => (url[name] ? [[name, url[name]]] : [])),
  )
  const verdict = SETS[url.set]
  const automation_status = KINDS[url.kinds]
  return {
    status: "!deprecated",
    ...(verdict && { verdict }),
    ...(automation_status && { automation_status }),
    ...filters,
  } as Record<string, string>
}

type WhichProps = {
  url: { set: keyof typeof SETS; kinds: keyof typeof KINDS } & Pick<ListUrl, "module">
  setUrl: (change: Record<string, string | undefined>, options?: { replace?: boolean }) => void
}

function Which({ url, setUrl }: WhichProps) {
  const modules = useQuery({
    queryKey: ["test-cases", "facets", "module", {}],
    queryFn: ({ signal }) => readFacet(TEST_CASES, "module", {}, signal),
  })
  const named = (modules.data ?? []).flatMap(({ value }) => (value ? [value] : []))
  const chosen = named.find((name) => writeAlternatives([{ value: name, not: false }]) === url.module)
  return (
    <div className={css.which}>
      <Choice
        label={said.which}
        value={url.set}
        options={(Object.keys(SETS) as (keyof typeof SETS)[]).map((value) => ({ value, label: said.sets[value] }))}
        onChange={(set) => setUrl({ set }, { replace: true })}
      />
      <Choice
        label={said.kinds}
        value={url.kinds}
        options={[
          { value: "manual", label: said.manual },
          { value: "every", label: said.everyKind },
        ]}
        onChange={(kinds) => setUrl({ kinds }, { replace: true })}
      />
      <Select
        label={said.module}
        value={chosen ?? ""}
        options={[{ value: "", label: said.everyModule }, ...named.map((value) => ({ value, label: value }))]}
        onChange={(name) =>
          setUrl({ module: name ? writeAlternatives([{ value: name, not: false }]) : undefined }, { replace: true })
        }
      />
    </div>
  )
}

type WrittenProps = {
  values: Record<"environment" | "commit", string | undefined>
  change: (name: "environment" | "commit", value: string) => void
}

/** What stands with each result of the session. */
function Written({ values, change }: WrittenProps) {
  return (
    <div className={css.written}>
      {(["environment", "commit"] as const).map((name) => (
        <Field
          key={name}
          label={words.record[name]}
          value={values[name] ?? ""}
          maxLength={200}
          onChange={(value) => change(name, value)}
        />
      ))}
    </div>
  )
}

const SHOWN = 8

/** Which test cases these are: their number, and the first. */
function Found({ cases: { items, total }, isChosen }: { cases: Cases; isChosen: boolean }) {
  const [isWhole, setWhole] = useState(false)
  if (items.length === 0) return <Empty title={said.none} hint={said.noneHint} />
  const shown = isWhole ? items : items.slice(0, SHOWN)
  return (
    <section aria-label={said.list}>
      <h2 className={css.count}>
        {total > items.length ? said.first(items.length, total) : (isChosen ? said.chosen : said.found)(total)}
      </h2>
      <ul className={css.found}>
        {shown.map(({ id, external_id, title }) => (
          <li key={id}>
            <span className={css.id}>{external_id}</span> {title}
          </li>
        ))}
      </ul>
      {items.length > shown.length && (
        <Button look="quiet" onPress={() => setWhole(true)}>
          {m.common.more}
        </Button>
      )}
    </section>
  )
}
