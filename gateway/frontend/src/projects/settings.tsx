import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { client, withEtag } from "../api/client"
import type { components } from "../api/schema"
import { Button } from "../kit/button"
import { Choice } from "../kit/choice"
import { Field } from "../kit/field"
import { optionsOf } from "../kit/filter"
import { Ask, useForm } from "../kit/form"
import { InlineSelect } from "../kit/inline-select"
import { Page } from "../kit/page"
import { Empty, NotYet } from "../kit/states"
import { toast } from "../kit/toast"
import { m } from "../messages"
import form from "../session/account.module.css"
import { useUser } from "../session/session"
import { MAIN, projectKey } from "./address"
import { Members } from "./members"
import { homeOf, PROJECTS, type Project, thisProject } from "./queries"
import { ServiceAccounts } from "./service-accounts"
import { words as screens } from "./words"

type Change = components["schemas"]["ProjectChange"]
type Settings = Project["settings"]
const words = screens.settings
const PROBLEMS = { 412: words.changedMeanwhile }

/** What a project is called, who gets in, and what it wants otherwise than the installation. */
export default function ProjectSettings() {
  const read = useQuery(thisProject())
  return (
    <Page title={m.projects.settings}>
      <NotYet query={read} />
      {read.data && (read.data.role === "admin" ? <All project={read.data} /> : <Empty title={words.only} />)}
    </Page>
  )
}

function All({ project }: { project: Project }) {
  return (
    <div className={form.sections}>
      {project.archived ? (
        <p>{words.isArchived}</p>
      ) : (
        <>
          <About key={`about ${JSON.stringify(project)}`} project={project} />
          <Suggestions key={`settings ${JSON.stringify(project.settings)}`} settings={project.settings} />
        </>
      )}
      <Members isReadOnly={project.archived} />
      <ServiceAccounts isReadOnly={project.archived} />
      <TheEnd project={project} />
    </div>
  )
}

/** Return a function that changes the project, and says so. */
function useChange() {
  const queries = useQueryClient()
  return async (body: Change) => {
    const params = { path: { key: projectKey() } }
    await withEtag(client.PATCH("/api/v1/projects/{key}", { params, body }))
    await queries.invalidateQueries({ queryKey: PROJECTS })
    toast(words.saved)
  }
}

function About({ project }: { project: Project }) {
  const change = useChange()
  const [name, setName] = useState(project.name)
  const [description, setDescription] = useState(project.description)
  const [visibility, setVisibility] = useState(project.visibility)
  const { isSending, fields, failure, onSubmit } = useForm(() => change({ name, description, visibility }), PROBLEMS)
  return (
    <section>
      <h2>{words.about}</h2>
      <form className={form.form} onSubmit={onSubmit}>
        <Field label={screens.name} isRequired value={name} error={fields["/name"]} onChange={setName} />
        <Field
          label={words.description}
          lines={3}
          value={description}
          error={fields["/description"]}
          onChange={setDescription}
        />
        <div className={form.choices}>
          <span>{screens.visibility}</span>
          <Choice
            label={screens.visibility}
            value={visibility}
            options={optionsOf(screens.visibilities)}
            onChange={setVisibility}
          />
        </div>
        <p className={form.quiet}>{words.visibilityHints[visibility]}</p>
        {failure}
        <Button type="submit" isDisabled={isSending}>
          {words.save}
        </Button>
      </form>
    </section>
  )
}

function Suggestions({ settings }: { settings: Settings }) {
  const change = useChange()
  const [automatic, setAutomatic] = useState(String(settings.automatic_suggestions ?? ""))
  const [algorithm, setAlgorithm] = useState<string>(settings.algorithm ?? "")
  const [threshold, setThreshold] = useState(String(settings.threshold ?? ""))
  const [coverage, setCoverage] = useState(String(settings.coverage_threshold ?? ""))
  const { isSending, fields, failure, onSubmit } = useForm(() =>
    change({
      settings: {
        automatic_suggestions: automatic === "" ? null : automatic === "true",
        algorithm: (algorithm || null) as Settings["algorithm"],
        threshold: numberOf(threshold),
        coverage_threshold: numberOf(coverage),
      },
    }),
  )
  return (
    <section>
      <h2>{words.suggestions}</h2>
      <p className={form.quiet}>{words.defaultHint}</p>
      <form className={form.form} onSubmit={onSubmit}>
        <div className={form.choices}>
          <span>{words.automatic}</span>
          <InlineSelect
            label={words.automatic}
            value={automatic}
            options={optionsOf(words.automatics)}
            onChange={setAutomatic}
          />
          <span>{words.algorithm}</span>
          <InlineSelect
            label={words.algorithm}
            value={algorithm}
            options={optionsOf(words.algorithms)}
            onChange={setAlgorithm}
          />
        </div>
        <Field
          label={words.threshold}
          hint={words.thresholdHint}
          inputMode="decimal"
          value={threshold}
          error={fields["/settings/threshold"]}
          onChange={setThreshold}
        />
        <Field
          label={words.coverage}
          hint={words.coverageHint}
          inputMode="decimal"
          value={coverage}
          error={fields["/settings/coverage_threshold"]}
          onChange={setCoverage}
        />
        {failure}
        <Button type="submit" isDisabled={isSending}>
          {words.save}
        </Button>
      </form>
    </section>
  )
}

/** Return the number of a field, null where it is empty; what is no number the API refuses, and says so. */
function numberOf(text: string): number | null {
  const written = text.trim().replace(",", ".")
  const number = Number(written)
  return written === "" ? null : Number.isNaN(number) ? (written as never) : number
}

function TheEnd({ project: { key, archived } }: { project: Project }) {
  const change = useChange()
  const mayDelete = useUser().role === "admin" && archived && key !== MAIN
  const [isAsking, setAsking] = useState<"archive" | "delete">()
  const [typed, setTyped] = useState("")
  async function remove() {
    await withEtag(client.DELETE("/api/v1/projects/{key}", { params: { path: { key }, query: { confirm: typed } } }))
    location.assign(`${homeOf(MAIN)}/projects`)
  }
  async function archive() {
    await change({ archived: true })
    setAsking(undefined)
  }
  return (
    <section>
      <h2>{words.end}</h2>
      {archived ? (
        <Button onPress={() => void change({ archived: false })}>{words.unarchive}</Button>
      ) : (
        <Button onPress={() => setAsking("archive")}>{words.archive}</Button>
      )}
      {mayDelete && (
        <Button look="danger" onPress={() => setAsking("delete")}>
          {words.delete}
        </Button>
      )}
      {isAsking === "archive" && (
        <Ask title={words.archive} action={words.archiveIt} run={archive} close={() => setAsking(undefined)}>
          <p>{words.archiveHint}</p>
        </Ask>
      )}
      {isAsking === "delete" && (
        <Ask
          title={words.delete}
          action={words.deleteIt}
          look="danger"
          run={remove}
          close={() => setAsking(undefined)}
          isReady={typed === key}
          stays
        >
          <p>{words.deleteHint}</p>
          <Field label={words.typeKey(key)} value={typed} onChange={setTyped} />
        </Ask>
      )}
    </section>
  )
}
