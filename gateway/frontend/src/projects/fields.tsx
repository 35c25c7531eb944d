import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { client, withEtag } from "../api/client"
import { type ProjectField, projectFields } from "../items/project-fields"
import { Button } from "../kit/button"
import { Field } from "../kit/field"
import { optionsOf } from "../kit/filter"
import { useForm } from "../kit/form"
import { Select } from "../kit/select"
import { NotYet } from "../kit/states"
import { toast } from "../kit/toast"
import form from "../session/account.module.css"
import css from "./fields.module.css"
import { keyOf } from "./keys"
import { words as screens } from "./words"

const words = screens.settings
const PROBLEMS = { 412: words.fieldsMeanwhile }

/** A field as the form has it: `place` keeps it apart from others, `isNew` whether its key can still be chosen. */
type Draft = Omit<ProjectField, "default"> & { place: number; isNew: boolean; standard: string }

/** The fields of the project, for its admins to define. */
export function FieldsOfProject() {
  const read = useQuery({
    queryKey: [...projectFields.queryKey, "settings"],
    queryFn: async ({ signal }) => {
      const { data, etag } = await withEtag(client.GET("/api/v1/fields", { signal }))
      return { fields: data.fields as ProjectField[], etag }
    },
  })
  return (
    <section>
      <h2>{words.fields}</h2>
      <p className={form.quiet}>{words.fieldsAbout}</p>
      <NotYet query={read} rows={2} />
      {read.data && <Editor key={read.data.etag} {...read.data} />}
    </section>
  )
}

function Editor({ fields: stored, etag }: { fields: ProjectField[]; etag: string }) {
  const [drafts, setDrafts] = useState(() => stored.map((field, place): Draft => draftOf(field, place)))
  const queries = useQueryClient()
  const { isSending, fields, failure, onSubmit } = useForm(async () => {
    const body = { fields: drafts.map(fieldOf) }
    await withEtag(client.PUT("/api/v1/fields", { params: { header: { "If-Match": etag } }, body }))
    await queries.invalidateQueries({ queryKey: projectFields.queryKey })
    toast(words.saved)
  }, PROBLEMS)
  const change = (place: number, said: Partial<Draft>) =>
    setDrafts(drafts.map((draft) => (draft.place === place ? { ...draft, ...said } : draft)))
  const add = () => {
    const place = Math.max(-1, ...drafts.map((draft) => draft.place)) + 1
    setDrafts([...drafts, { ...EMPTY, place }])
  }
  return (
    <form className={form.form} onSubmit={onSubmit} noValidate>
      <ul className={css.fields}>
        {drafts.map((draft, at) => (
          <li key={draft.place}>
            <OneField
              draft={draft}
              error={(name) =>
                Object.entries(fields).find(([pointer]) => `${pointer}/`.startsWith(`/fields/${at}/${name}`))?.[1]
              }
              change={(said) => change(draft.place, said)}
              remove={() => setDrafts(drafts.filter(({ place }) => place !== draft.place))}
            />
          </li>
        ))}
      </ul>
      {failure ?? (Object.keys(fields).length > 0 && <p role="alert">{Object.values(fields)[0]}</p>)}
      <div className={css.buttons}>
        <Button onPress={add}>{words.addField}</Button>
        <Button type="submit" isDisabled={isSending}>
          {words.save}
        </Button>
      </div>
    </form>
  )
}

type OneProps = {
  draft: Draft
  error: (name: string) => string | undefined
  change: (said: Partial<Draft>) => void
  remove: () => void
}

function OneField({ draft, error, change, remove }: OneProps) {
  const told = (name: string) => {
    const message = error(name)
    return message === undefined ? {} : { error: message }
  }
  const of = draft.of.length > 1 ? "both" : (draft.of[0] ?? "requirement")
  const isChoosing = draft.kind === "choice" || draft.kind === "choices"
  return (
    <fieldset className={css.field}>
      <legend className="visually-hidden">{draft.name || words.addField}</legend>
      <Field
        label={words.fieldName}
        value={draft.name}
        onChange={(name) => change(draft.isNew ? { name, key: keyOf(name) } : { name })}
        isRequired
        maxLength={100}
        {...told("name")}
      />
      <Field
        label={words.fieldKey}
        value={draft.key}
        onChange={(key) => change({ key })}
        isDisabled={!draft.isNew}
        maxLength={40}
        {...(draft.isNew ? { hint: words.fieldKeyHint } : {})}
        {...told("key")}
      />
      <Select
        label={words.fieldKind}
        value={draft.kind}
        options={optionsOf(words.fieldKinds)}
        onChange={(kind) => change({ kind: kind as Draft["kind"] })}
      />
      <Select
        label={words.fieldOf}
        value={of}
        options={optionsOf(words.fieldOfs)}
        onChange={(one) => change({ of: one === "both" ? ["requirement", "test_case"] : [one as Draft["of"][number]] })}
      />
      {isChoosing && (
        <Field
          label={words.fieldChoices}
          hint={words.fieldChoicesHint}
          lines={4}
          value={draft.choices.join("\n")}
          onChange={(text) => change({ choices: text.split("\n") })}
          {...told("choices")}
        />
      )}
      <div className={css.switches}>
        <label>
          <input type="checkbox" checked={draft.meaning} onChange={() => change({ meaning: !draft.meaning })} />{" "}
          {words.fieldMeaning}
        </label>
        <label>
          <input type="checkbox" checked={draft.required} onChange={() => change({ required: !draft.required })} />{" "}
          {words.fieldRequired}
        </label>
      </div>
      {draft.required && (
        <Field
          label={words.fieldDefault}
          value={draft.standard}
          onChange={(standard) => change({ standard })}
          {...told("default")}
        />
      )}
      <Button look="quiet" onPress={remove}>
        {words.removeField(draft.name || draft.key)}
      </Button>
    </fieldset>
  )
}

const EMPTY: Draft = {
  place: 0,
  isNew: true,
  key: "",
  name: "",
  of: ["requirement"],
  kind: "choice",
  choices: [],
  meaning: false,
  required: false,
  standard: "",
}

function draftOf({ default: standard, ...field }: ProjectField, place: number): Draft {
  const text =
    standard === null || standard === undefined ? "" : Array.isArray(standard) ? standard.join(", ") : standard
  return { ...field, place, isNew: false, standard: String(text) }
}

function fieldOf({ place: _, isNew: _isNew, standard, ...field }: Draft): ProjectField {
  const choices = field.choices.map((choice) => choice.trim()).filter(Boolean)
  const isChoosing = field.kind === "choice" || field.kind === "choices"
  return { ...field, choices: isChoosing ? choices : [], default: field.required ? defaultOf(field, standard) : null }
}

/** Return the default that a form says; what its field cannot have the API refuses. */
function defaultOf({ kind }: Pick<ProjectField, "kind">, said: string): unknown {
  const text = said.trim()
  if (!text) return null
  if (kind === "number") return Number.isNaN(Number(text)) ? text : Number(text)
  if (kind === "yes_no") return /^(yes|true)$/i.test(text) ? true : /^(no|false)$/i.test(text) ? false : text
  if (kind === "choices") return text.split(",").map((one) => one.trim())
  return text
}
