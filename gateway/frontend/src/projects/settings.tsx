import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { client, withEtag } from "../api/client"
import type { components } from "../api/schema"
import { Button } from "../kit/button"
import { Choice } from "../kit/choice"
import { Field } from "../kit/field"
import { optionsOf } from "../kit/filter"
import { Ask, useFields, useForm } from "../kit/form"
import { InlineSelect } from "../kit/inline-select"
import { Page } from "../kit/page"
import { Empty, NotYet } from "../kit/states"
import { complain, toast } from "../kit/toast"
import { m } from "../messages"
import form from "../session/account.module.css"
import { useUser } from "../session/session"
import { MAIN } from "./address"
import { Agents } from "./agents"
import { FieldsOfProject } from "./fields"
import { readLanes, writeLanes } from "./lanes"
import { LevelsOfProject } from "./levels"
import { Members } from "./members"
import { readNames, writeNames } from "./properties"
import { homeOf, PROJECTS, type Project, thisProject } from "./queries"
import { ServiceAccounts } from "./service-accounts"
import { words as screens } from "./words"

type Change = components["schemas"]["ProjectChange"]
type Settings = Project["settings"]
const words = screens.settings
const PROBLEMS = { 412: m.projects.changedMeanwhile }

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
        <p>{m.projects.isArchived}</p>
      ) : (
        <>
          <About key={`about ${JSON.stringify(project)}`} project={project} />
          <Suggestions key={`settings ${JSON.stringify(project.settings)}`} project={project} />
          <FieldsOfProject />
          <LevelsOfProject />
          <Lanes key={`lanes ${JSON.stringify(project.settings)}`} project={project} />
        </>
      )}
      <Members isReadOnly={project.archived} />
      <ServiceAccounts isReadOnly={project.archived} />
      <Agents />
      <TheEnd project={project} />
    </div>
  )
}

/** Return a function that changes the project if it is still as it was read, and says so. */
function useChange({ key, etag }: Project) {
  const queries = useQueryClient()
  return async (body: Change) => {
    const params = { path: { key }, header: { "If-Match": etag } }
    await withEtag(client.PATCH("/api/v1/projects/{key}", { params, body }))
    await queries.invalidateQueries({ queryKey: PROJECTS })
    toast(words.saved)
  }
}

function About({ project }: { project: Project }) {
  const change = useChange(project)
  const { name, description, visibility } = project
  const { values, of } = useFields({ name, description, visibility })
  const { isSending, fields, failure, onSubmit } = useForm(() => change(values), PROBLEMS)
  return (
    <section>
      <h2>{words.about}</h2>
      <form className={form.form} onSubmit={onSubmit}>
        <Field label={screens.name} isRequired {...of("name", fields)} />
        <Field label={words.description} lines={3} {...of("description", fields)} />
        <div className={form.choices}>
          <span>{screens.visibility}</span>
          <Choice label={screens.visibility} options={optionsOf(screens.visibilities)} {...of("visibility")} />
        </div>
        <p className={form.quiet}>{words.visibilityHints[values.visibility]}</p>
        {failure}
        <Button type="submit" isDisabled={isSending}>
          {words.save}
        </Button>
      </form>
    </section>
  )
}

function Suggestions({ project }: { project: Project }) {
  const change = useChange(project)
  const { settings } = project
  const { values, of } = useFields({
    automatic: String(settings.automatic_suggestions ?? ""),
    algorithm: String(settings.algorithm ?? ""),
    language: String(settings.language ?? ""),
    "settings/threshold": String(settings.threshold ?? ""),
    "settings/coverage_threshold": String(settings.coverage_threshold ?? ""),
  })
  const said = {
    automatic_suggestions: values.automatic === "" ? null : values.automatic === "true",
    algorithm: (values.algorithm || null) as Settings["algorithm"],
    language: (values.language || null) as Settings["language"],
    threshold: numberOf(values["settings/threshold"]),
    coverage_threshold: numberOf(values["settings/coverage_threshold"]),
  }
  const { isSending, fields, failure, onSubmit } = useForm(() => change({ settings: said }), PROBLEMS)
  return (
    <section>
      <h2>{words.suggestions}</h2>
      <p className={form.quiet}>{words.defaultHint}</p>
      <form className={form.form} onSubmit={onSubmit}>
        <div className={form.choices}>
          <span>{words.automatic}</span>
          <InlineSelect label={words.automatic} options={optionsOf(words.automatics)} {...of("automatic")} />
          <span>{words.algorithm}</span>
          <InlineSelect label={words.algorithm} options={optionsOf(words.algorithms)} {...of("algorithm")} />
          <span>{words.language}</span>
          <InlineSelect label={words.language} options={optionsOf(words.languages)} {...of("language")} />
        </div>
        <Field
          label={words.threshold}
          hint={words.thresholdHint}
          inputMode="decimal"
          {...of("settings/threshold", fields)}
        />
        <Field
          label={words.coverage}
          hint={words.coverageHint}
          inputMode="decimal"
          {...of("settings/coverage_threshold", fields)}
        />
        {failure}
        <Button type="submit" isDisabled={isSending}>
          {words.save}
        </Button>
      </form>
    </section>
  )
}

function Lanes({ project }: { project: Project }) {
  const change = useChange(project)
  const { expected_lanes, result_properties } = project.settings
  const { values, of } = useFields({
    "settings/expected_lanes": writeLanes(expected_lanes ?? []),
    "settings/result_properties/test_cases": writeNames(result_properties?.test_cases),
    "settings/result_properties/requirements": writeNames(result_properties?.requirements),
  })
  const named = {
    test_cases: readNames(values["settings/result_properties/test_cases"]),
    requirements: readNames(values["settings/result_properties/requirements"]),
  }
  const said = {
    expected_lanes: readLanes(values["settings/expected_lanes"]),
    result_properties: named.test_cases || named.requirements ? named : null,
  }
  const { isSending, fields, failure, onSubmit } = useForm(() => change({ settings: said }), PROBLEMS)
  return (
    <section>
      <h2>{words.lanes}</h2>
      <p className={form.quiet}>{words.lanesAbout}</p>
      <form className={form.form} onSubmit={onSubmit}>
        <Field
          label={words.expectedLanes}
          hint={words.lanesHint}
          lines={3}
          {...of("settings/expected_lanes", fields)}
        />
        <Field
          label={words.namesOfTestCases}
          hint={words.namesOfTestCasesHint}
          {...of("settings/result_properties/test_cases", fields)}
        />
        <Field
          label={words.namesOfRequirements}
          hint={words.namesOfRequirementsHint}
          {...of("settings/result_properties/requirements", fields)}
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

function TheEnd({ project }: { project: Project }) {
  const change = useChange(project)
  const { key, archived } = project
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
        <Button onPress={() => void change({ archived: false }).catch(complain)}>{words.unarchive}</Button>
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
        >
          <p>{words.deleteHint}</p>
          <Field label={words.typeKey(key)} value={typed} onChange={setTyped} />
        </Ask>
      )}
    </section>
  )
}
