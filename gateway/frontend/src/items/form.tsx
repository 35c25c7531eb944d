import { type KeyboardEvent, lazy, Suspense, useMemo, useRef, useState } from "react"
import { ApiProblem } from "../api/problem"
import { Button } from "../kit/button"
import { Field as TextField, type FieldProps as TextFieldProps } from "../kit/field"
import { useForm } from "../kit/form"
import { Select } from "../kit/select"
import { m } from "../messages"
import { FieldInputs } from "./field-inputs"
import { numbered, optionsOf, stepsOf, tagsOf } from "./fields"
import css from "./form.module.css"
import { type Item, type Kind, REQUIREMENTS, TEST_CASES } from "./kinds"
import type { Edits, Field } from "./merge"
import {
  dataBeside,
  dataWith,
  PREFIX,
  type ProjectField,
  textOfValue,
  useProjectFields,
  valuesOf,
} from "./project-fields"
import { StepsField } from "./steps-field"

const MadeSuspect = lazy(() => import("../levels/made-suspect"))

type Props = {
  kind: Kind
  /** What the fields say at first. */
  item: Partial<Item>
  /** What the button says that sends it. */
  button: string
  /** Send it; a problem that it throws is shown at the fields that it names. */
  send: (edits: Edits) => Promise<void>
  cancel: () => void
}

/** The texts of a form; what is no text is written as one. */
type Draft = Record<string, string> & { steps?: never }
type Closed = "type" | "priority" | "status" | "automation_status"
type FormField = Partial<TextFieldProps> & { name: Field; isClosed?: boolean; ofTestCases?: boolean }

const CLOSED: Closed[] = ["type", "priority", "status"]
const BEFORE: FormField[] = [
  { name: "title", isRequired: true, autoFocus: true, maxLength: 500 },
  { name: "description", isRequired: true, lines: 6 },
  { name: "preconditions", lines: 2, ofTestCases: true },
  { name: "steps", ofTestCases: true },
  { name: "postconditions", lines: 2, ofTestCases: true },
]
const IN_COLUMNS: FormField[] = [
  ...CLOSED.map((name) => ({ name, isClosed: true })),
  { name: "automation_status", isClosed: true, ofTestCases: true },
  { name: "execution_time_minutes", inputMode: "numeric", ofTestCases: true },
  { name: "external_id" },
  { name: "module" },
  { name: "tags", hint: m.items.tagsHint },
  { name: "source_system" },
  { name: "source_url" },
]
const AFTER: FormField[] = [
  { name: "test_data", lines: 3, ofTestCases: true },
  { name: "custom_metadata", lines: 3 },
]

/** All fields of an item, to create or to change it. Ctrl+Enter sends, Escape leaves. */
export function ItemForm({ kind, item, button, send, cancel }: Props) {
  const own = useProjectFields(kind)
  const [draft, setDraft] = useState<Draft>({})
  const first = useMemo(() => draftOf(kind, item, own), [kind, item, own])
  const [steps, setSteps] = useState(() => stepsOf(item.steps ?? null))
  const form = useRef<HTMLFormElement>(null)
  const { isSending, fields, failure, onSubmit } = useForm(() => send(editsOf(kind, said, steps, own)))
  const said: Draft = { ...first, ...draft }
  const errors = byField(fields)
  const change = (name: string, value: string) => setDraft((before) => ({ ...before, [name]: value }))
  const show = ({ name, isClosed, ofTestCases, ...props }: FormField) => {
    if (ofTestCases && kind !== TEST_CASES) return null
    const field = {
      label: m.items.fields[name],
      value: said[name] ?? "",
      onChange: (value: string) => change(name, value),
    }
    if (name === "steps") return <StepsField key={name} steps={steps} onChange={setSteps} error={errors.steps} />
    if (!isClosed) return <TextField key={name} {...props} {...field} error={errors[name]} />
    return (
      <div key={name} className={css.closed}>
        <Select {...field} options={optionsOf(kind, name as Closed)} />
      </div>
    )
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.current?.requestSubmit()
  }
  return (
    <form ref={form} className={css.form} onSubmit={onSubmit} onKeyDown={onKeyDown} noValidate>
      {BEFORE.map(show)}
      <div className={css.columns}>
        {IN_COLUMNS.map(show)}
        <FieldInputs fields={own} draft={said} errors={errors} change={change} />
      </div>
      {AFTER.map(show)}
      <Suspense>
        {item.id && kind === REQUIREMENTS && changesMeaning(first, said) && <MadeSuspect id={item.id} />}
      </Suspense>
      <div className={css.buttons}>
        {failure}
        <Button onPress={cancel}>{m.common.cancel}</Button>
        <Button look="primary" type="submit" isDisabled={isSending}>
          {button}
        </Button>
      </div>
    </form>
  )
}

const MEANING = ["title", "description", "type", "priority"]
const changesMeaning = (before: Draft, now: Draft) => MEANING.some((name) => before[name] !== now[name])

const TEXTS = ["external_id", "module", "source_system", "source_url"] as const
const TEXTS_OF_TEST_CASES = ["preconditions", "postconditions"] as const

function draftOf(kind: Kind, item: Partial<Item>, own: ProjectField[]): Draft {
  const texts = (["title", "description", "execution_time_minutes", ...TEXTS, ...TEXTS_OF_TEST_CASES] as const).map(
    (name) => [name, String(item[name] ?? "")],
  )
  const dataOf = { custom_metadata: dataBeside(own, item.custom_metadata), test_data: item.test_data }
  const data = (["custom_metadata", "test_data"] as const).map((name) => [
    name,
    dataOf[name] ? JSON.stringify(dataOf[name], undefined, 2) : "",
  ])
  const values = valuesOf(item.custom_metadata)
  const isNew = item.title === undefined
  const ofProject = own.map((field) => [
    `${PREFIX}${field.key}`,
    textOfValue(values[field.key] ?? (isNew ? field.default : null)),
  ])
  return {
    ...Object.fromEntries([...texts, ...data, ...ofProject]),
    type: item.type ?? kind.types[0] ?? "",
    priority: item.priority ?? "medium",
    status: item.status ?? kind.statuses[0] ?? "",
    tags: item.tags?.join(", ") ?? "",
    automation_status: item.automation_status ?? "manual",
  }
}

/** Return what a form says as the API takes it; throw as a problem what is wrong in fields that it could not even read. */
function editsOf(kind: Kind, draft: Draft, steps: string[], own: ProjectField[]): Edits {
  const wrong: { pointer: string; message: string }[] = []
  const orNull = (field: string) => draft[field]?.trim() || null
  function object(field: string): unknown {
    const value = orNull(field)
    try {
      const parsed: unknown = value && JSON.parse(value)
      if (parsed === null || (typeof parsed === "object" && !Array.isArray(parsed))) return parsed
    } catch {
      // It is said below, as for JSON that is no object.
    }
    wrong.push({ pointer: `/${field}`, message: m.items.notJson })
    return null
  }
  const edits: Record<string, unknown> = {
    title: draft.title?.trim() ?? "",
    description: draft.description ?? "",
    ...Object.fromEntries(CLOSED.map((field) => [field, draft[field]])),
    ...Object.fromEntries(TEXTS.map((name) => [name, orNull(name)])),
    tags: tagsOf(draft.tags ?? ""),
    custom_metadata: dataWith(own, object("custom_metadata"), (key) => draft[`${PREFIX}${key}`] ?? ""),
  }
  if (kind === TEST_CASES) {
    const minutes = orNull("execution_time_minutes")
    Object.assign(edits, {
      ...Object.fromEntries(TEXTS_OF_TEST_CASES.map((name) => [name, orNull(name)])),
      steps: numbered(steps),
      test_data: object("test_data"),
      automation_status: draft.automation_status,
      execution_time_minutes: minutes !== null && /^\d+$/.test(minutes) ? Number(minutes) : minutes,
    })
  }
  if (wrong.length > 0) throw new ApiProblem(422, { errors: wrong })
  return edits as Edits
}

/** Return messages by the field that they are about; the first where there are several. */
function byField(pointers: Record<string, string>): Record<string, string> {
  const entries = Object.entries(pointers).map(([pointer, message]) => {
    const [, field = "", part, key] = pointer.split("/")
    return [field === "custom_metadata" && part === "fields" && key ? `${PREFIX}${key}` : field, message]
  })
  return Object.fromEntries(entries.reverse())
}
