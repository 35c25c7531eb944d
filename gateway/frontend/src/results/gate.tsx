import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import * as v from "valibot"
import { Link } from "wouter"
import { api } from "../api/client"
import { ApiProblem } from "../api/problem"
import type { components } from "../api/schema"
import tab from "../items/tab.module.css"
import { Badge } from "../kit/badge"
import { Button } from "../kit/button"
import { Field } from "../kit/field"
import { Ask } from "../kit/form"
import { Select } from "../kit/select"
import { NotYet } from "../kit/states"
import { toast } from "../kit/toast"
import { formatCount, m } from "../messages"
import { projectKey } from "../projects/address"
import { PROJECTS, thisProject, useProject } from "../projects/queries"
import { useMay } from "../session/session"
import { parseAlternatives, useUrl } from "../url"
import { readRules, writeRules } from "./gate-rules"
import { type GateAnswer, useGate } from "./queries"
import css from "./results.module.css"
import { words as all } from "./words"

type Schemas = components["schemas"]
const words = all.gate
const URL_FIELDS = { policy: v.optional(v.string()) }
const OWN = ""
/** Where the page shows what a reason names by its address in the API. */
const SCREENS: [api: RegExp, path: string][] = [
  [/\/links\//, "/suspect"],
  [/\/suggestions\?.*requirement_id=([^&]+)/, "/review?requirement=$1"],
  [/\/automated-tests\b/, "/results?tab=tests"],
  [/\/test-runs\//, "/results/"],
  [/\/(requirements|test-cases)\//, "/$1/"],
]

/** Whether the gate is open, by which rules, and what keeps it closed. */
export function GateTab() {
  const [{ policy = OWN }, setUrl] = useUrl(URL_FIELDS)
  const mayChange = useMay("admin")
  const [open, setOpen] = useState<"change" | "add" | "remove">()
  const own = useProject()?.settings.gate ?? []
  const policies = useQuery({
    queryKey: ["results", "policies"],
    queryFn: ({ signal }) => api.get("/api/v1/reports/gate/policies", { params: { query: { limit: 500 } }, signal }),
  })
  const judged = useGate(policy)
  const names = policies.data?.items.map(({ name }) => name) ?? []
  const rules = policy ? (policies.data?.items.find(({ name }) => name === policy)?.rules ?? []) : own
  const close = () => setOpen(undefined)
  const use = (name: string) => setUrl({ policy: name })
  return (
    <div className={tab.tab}>
      <div className={css.line}>
        <Select
          label={words.policy}
          hideLabel
          value={policy}
          options={[{ value: OWN, label: words.own }, ...names.map((name) => ({ value: name, label: name }))]}
          onChange={use}
        />
        {mayChange && (
          <>
            <Button onPress={() => setOpen("change")}>{words.change}</Button>
            <Button onPress={() => setOpen("add")}>{words.add}</Button>
            {policy && (
              <Button look="danger" onPress={() => setOpen("remove")}>
                {words.remove}
              </Button>
            )}
          </>
        )}
      </div>
      <NotYet query={judged} rows={3} />
      {judged.data && <Judged gate={judged.data} />}
      {(open === "change" || open === "add") && (
        <Edit
          name={open === "add" ? undefined : policy}
          taken={names}
          rules={open === "add" ? [] : rules}
          close={close}
          use={use}
        />
      )}
      {open === "remove" && <Remove name={policy} close={close} use={use} />}
    </div>
  )
}

/** Whether it is open, in a word. */
export function GateState({ gate: { passed, rules } }: { gate: GateAnswer }) {
  const held = rules.filter((rule) => rule.passed).length
  return (
    <p className={css.line}>
      <Badge state={passed ? "covered" : "failed"}>{passed ? words.passed : words.failed}</Badge>
      {words.rulesHold(held, rules.length)}
    </p>
  )
}

function Judged({ gate }: { gate: GateAnswer }) {
  return (
    <>
      <GateState gate={gate} />
      <ul className={css.rules}>
        {gate.rules.map(({ rule, limit, where, passed, reason, items, total }) => (
          <li key={writeRules([{ rule, limit, where }])}>
            <span className={css.line}>
              <Badge state={passed ? "covered" : "failed"}>{passed ? all.states.passed : all.states.failed}</Badge>
              <code>{writeRules([{ rule, limit, where }])}</code>
            </span>
            {reason}
            {items.length > 0 && (
              <ul>
                {items.map((item) => (
                  <li key={String(item.url)}>
                    <Reason item={item as Named} />
                  </li>
                ))}
                {total > items.length && <li>{words.more(formatCount(total - items.length))}</li>}
              </ul>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}

type Named = { id: string; url: string; reason: string }

function Reason({ item: { id, url, reason } }: { item: Named }) {
  const [pattern, path] = SCREENS.find(([api]) => api.test(url)) ?? [/$/, ""]
  const screen = path.replace("$1", pattern.exec(url)?.[1] ?? "")
  return screen ? <Link href={screen.endsWith("/") ? screen + id : screen}>{reason}</Link> : reason
}

type EditProps = {
  /** Of the policy; "" stands for the rules of the project, undefined for one that is made now. */
  name: string | undefined
  /** The names of the policies that there are. */
  taken: string[]
  rules: Parameters<typeof writeRules>[0]
  close: () => void
  use: (name: string) => void
}

function Edit({ name, taken, rules, close, use }: EditProps) {
  const queries = useQueryClient()
  const project = useProject()
  const [asRead] = useState(project?.etag)
  const [text, setText] = useState(() => writeRules(rules))
  const [typed, setTyped] = useState("")
  async function save() {
    const read = readRules(text)
    if (name === OWN) {
      if (read.some(({ where }) => Object.values(where).some(excludes)))
        throw new ApiProblem(422, { detail: words.noNot })
      const gate = read.map(({ where, ...rule }) => ({ ...rule, where: lists(where) }))
      // Whoever keeps the project does not know what rules there are: the gate does.
      await api.post("/api/v1/reports/gate", { body: { rules: read as Schemas["Rule"][] } })
      const params = { path: { key: projectKey() }, header: { "If-Match": asRead } }
      const settings = { gate: gate.length > 0 ? gate : null }
      try {
        await api.patch("/api/v1/projects/{key}", { params, body: { settings } })
      } finally {
        await queries.invalidateQueries({ queryKey: PROJECTS })
      }
      await queries.ensureQueryData(thisProject())
    } else {
      if (name === undefined && taken.includes(typed.trim()))
        throw new ApiProblem(409, { detail: words.taken(typed.trim()) })
      const params = { path: { name: name ?? typed.trim() } }
      await api.put("/api/v1/reports/gate/policies/{name}", { params, body: { rules: read as Schemas["Rule"][] } })
      use(params.path.name)
    }
    await queries.invalidateQueries({ queryKey: ["results"] })
    toast(words.saved)
    close()
  }
  return (
    <Ask
      title={name === undefined ? words.add : words.change}
      action={m.common.save}
      run={save}
      known={{ 412: m.projects.changedMeanwhile }}
      close={close}
      wide
    >
      {(errors) => (
        <>
          {name === undefined && (
            <Field label={words.name} hint={words.nameHint} isRequired autoFocus value={typed} onChange={setTyped} />
          )}
          <Field
            label={words.rules}
            hint={words.rulesHint}
            lines={6}
            value={text}
            error={Object.values(errors).join(" ") || undefined}
            onChange={setText}
          />
          <details>
            <summary>{words.known}</summary>
            <code>{KNOWN.join(" ")}</code>
          </details>
        </>
      )}
    </Ask>
  )
}

const KNOWN: Schemas["RuleName"][] = [
  "min_coverage",
  "min_verified",
  "min_rolled_verified",
  "max_uncovered",
  "max_failed",
  "max_flaky",
  "max_stale",
  "max_not_run",
  "max_suspect",
  "max_without_parent",
  "max_without_child",
  "max_suspect_relations",
  "max_pending_suggestions",
  "max_unlinked_tests",
  "require_run",
  "max_run_age_hours",
  "min_tests",
  "no_new_failures",
]

const excludes = (text: string) => parseAlternatives(text).some(({ not }) => not)

const lists = (where: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(where).map(([field, text]) => [field, parseAlternatives(text).map(({ value }) => value)]),
  )

function Remove({ name, close, use }: Pick<EditProps, "close" | "use"> & { name: string }) {
  const queries = useQueryClient()
  async function remove() {
    await api.delete("/api/v1/reports/gate/policies/{name}", { params: { path: { name } } })
    toast(words.removed)
    use(OWN)
    close()
    void queries.invalidateQueries({ queryKey: ["results", "policies"] })
  }
  return (
    <Ask
      role="alertdialog"
      title={words.remove}
      action={m.common.delete}
      look="danger"
      focus="cancel"
      run={remove}
      close={close}
    >
      <p>{words.removeHint}</p>
    </Ask>
  )
}
