import { type FormEvent, type KeyboardEvent, useRef, useState } from "react"
import { ApiProblem } from "../api/problem"
import { Button } from "../kit/button"
import { Field as TextField } from "../kit/field"
import { Select } from "../kit/select"
import { m } from "../messages"
import { numbered, optionsOf, sentenceOf, stepsOf, tagsOf } from "./fields"
import css from "./form.module.css"
import { type Item, type Kind, TEST_CASES } from "./kinds"
import type { Edits, Field } from "./merge"
import { StepsField } from "./steps-field"

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

const TEXTS: Field[] = ["external_id", "title", "description", "module", "source_system", "source_url"]
const CLOSED = ["type", "priority", "status"] as const

/** All fields of an item, to create or to change it. Ctrl+Enter sends, Escape leaves. */
export function ItemForm({ kind, item, button, send, cancel }: Props) {
  const [draft, setDraft] = useState(() => draftOf(kind, item))
  const [steps, setSteps] = useState(() => stepsOf(item.steps ?? null))
  const [errors, setErrors] = useState<Record<string, string>>({})
  const [failure, setFailure] = useState<string>()
  const [isSending, setSending] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const put = (field: string) => (value: string) => setDraft({ ...draft, [field]: value })
  const text = (field: Field) => ({
    label: m.items.fields[field],
    value: draft[field] ?? "",
    onChange: put(field),
    error: errors[field],
  })

  async function submit(event: FormEvent) {
    event.preventDefault()
    const [edits, wrong] = editsOf(kind, draft, steps)
    setErrors(wrong)
    setFailure(undefined)
    if (Object.keys(wrong).length > 0) return
    setSending(true)
    try {
      await send(edits)
    } catch (error) {
      const fields = error instanceof ApiProblem ? byField(error.fields) : {}
      setErrors(fields)
      if (Object.keys(fields).length === 0) setFailure(sentenceOf(error))
    } finally {
      setSending(false)
    }
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.current?.requestSubmit()
  }
  return (
    <form ref={form} className={css.form} onSubmit={submit} onKeyDown={onKeyDown} noValidate>
      <TextField {...text("title")} isRequired autoFocus maxLength={500} />
      <TextField {...text("description")} isRequired lines={6} />
      {kind === TEST_CASES && (
        <>
          <TextField {...text("preconditions")} lines={2} />
          <StepsField steps={steps} onChange={setSteps} error={errors.steps} />
          <TextField {...text("postconditions")} lines={2} />
        </>
      )}
      <div className={css.columns}>
        {CLOSED.map((field) => (
          <Closed key={field} kind={kind} field={field} value={draft[field] ?? ""} onChange={put(field)} />
        ))}
        {kind === TEST_CASES && (
          <>
            <Closed
              kind={kind}
              field="automation_status"
              value={draft.automation_status ?? ""}
              onChange={put("automation_status")}
            />
            <TextField {...text("execution_time_minutes")} inputMode="numeric" />
          </>
        )}
        <TextField {...text("external_id")} />
        <TextField {...text("module")} />
        <TextField {...text("tags")} hint={m.items.tagsHint} />
        <TextField {...text("source_system")} />
        <TextField {...text("source_url")} />
      </div>
      {kind === TEST_CASES && <TextField {...text("test_data")} lines={3} />}
      <TextField {...text("custom_metadata")} lines={3} />
      {failure && (
        <p className={css.failure} role="alert">
          {failure}
        </p>
      )}
      <div className={css.buttons}>
        <Button onPress={cancel}>{m.common.cancel}</Button>
        <Button look="primary" type="submit" isDisabled={isSending}>
          {button}
        </Button>
      </div>
    </form>
  )
}

type ClosedProps = {
  kind: Kind
  field: (typeof CLOSED)[number] | "automation_status"
  value: string
  onChange: (value: string) => void
}

function Closed({ kind, field, value, onChange }: ClosedProps) {
  return (
    <div className={css.closed}>
      <Select label={m.items.fields[field]} value={value} options={optionsOf(kind, field)} onChange={onChange} />
    </div>
  )
}

function draftOf(kind: Kind, item: Partial<Item>): Draft {
  const written = (value: unknown) => (value ? JSON.stringify(value, undefined, 2) : "")
  return {
    ...Object.fromEntries(TEXTS.map((field) => [field, String(item[field] ?? "")])),
    type: item.type ?? kind.types[0] ?? "",
    priority: item.priority ?? "medium",
    status: item.status ?? kind.statuses[0] ?? "",
    tags: item.tags?.join(", ") ?? "",
    custom_metadata: written(item.custom_metadata),
    preconditions: item.preconditions ?? "",
    postconditions: item.postconditions ?? "",
    test_data: written(item.test_data),
    automation_status: item.automation_status ?? "manual",
    execution_time_minutes: String(item.execution_time_minutes ?? ""),
  }
}

/** Return what a form says as the API takes it, and what is wrong in fields that the API could not even read. */
function editsOf(kind: Kind, draft: Draft, steps: string[]): [Edits, Record<string, string>] {
  const wrong: Record<string, string> = {}
  const orNull = (field: string) => draft[field]?.trim() || null
  function object(field: string): Record<string, unknown> | null {
    const value = orNull(field)
    try {
      const parsed: unknown = value && JSON.parse(value)
      if (parsed === null || (typeof parsed === "object" && !Array.isArray(parsed))) return parsed as never
    } catch {
      // It is said below, as for JSON that is no object.
    }
    wrong[field] = m.items.notJson
    return null
  }
  const edits: Record<string, unknown> = {
    title: draft.title?.trim() ?? "",
    description: draft.description ?? "",
    ...Object.fromEntries(CLOSED.map((field) => [field, draft[field]])),
    ...Object.fromEntries(["external_id", "module", "source_system", "source_url"].map((name) => [name, orNull(name)])),
    tags: tagsOf(draft.tags ?? ""),
    custom_metadata: object("custom_metadata"),
  }
  if (kind === TEST_CASES) {
    const minutes = orNull("execution_time_minutes")
    Object.assign(edits, {
      preconditions: orNull("preconditions"),
      postconditions: orNull("postconditions"),
      steps: numbered(steps),
      test_data: object("test_data"),
      automation_status: draft.automation_status,
      execution_time_minutes: minutes === null ? null : /^\d+$/.test(minutes) ? Number(minutes) : minutes,
    })
  }
  return [edits as Edits, wrong]
}

/** Return messages by the field that they are about; the first where there are several. */
function byField(pointers: Record<string, string>): Record<string, string> {
  const entries = Object.entries(pointers).map(([pointer, message]) => [pointer.split("/")[1] ?? "", message])
  return Object.fromEntries(entries.reverse())
}
