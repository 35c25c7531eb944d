import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { Notice } from "../kit/dialog"
import { Field } from "../kit/field"
import { Ask } from "../kit/form"
import { Select } from "../kit/select"
import { toast } from "../kit/toast"
import { formatCount, m } from "../messages"
import { type Change, readRows } from "./api"
import type { BulkProps } from "./bulk"
import { changeSelected, type Failure, type Outcome } from "./change-many"
import { FieldInputs } from "./field-inputs"
import { nameOf, optionsOf, tagsOf } from "./fields"
import type { ItemRow, Kind } from "./kinds"
import css from "./list.module.css"
import { PREFIX, type ProjectField, useProjectFields, valueIn } from "./project-fields"
import { countOf, NOTHING, type Selected } from "./selection"

export type BulkAction = "status" | "priority" | "module" | "tags" | "field" | "delete"

type Props = BulkProps & { action: BulkAction; close: () => void }

const words = m.items.bulk

/** Asks what many are to become, does it, and says of each that failed why. */
export function BulkDialog({ kind, query, total, selected, become, action, close }: Props) {
  // What was asked for: others go on meanwhile, and what is selected shrinks to what failed.
  const [count] = useState(() => countOf(selected, total))
  const [value, setValue] = useState(
    action === "status" ? (kind.statuses[0] ?? "") : action === "priority" ? "medium" : "",
  )
  const [removed, setRemoved] = useState("")
  const own = useProjectFields(kind)
  const [key, setKey] = useState<string>()
  const field = own.find((one) => one.key === key) ?? own[0]
  const [progress, setProgress] = useState<number>()
  const [outcome, setOutcome] = useState<Outcome>()
  const client = useQueryClient()
  const what = kind.words.some(count)
  const isDeletion = action === "delete"
  const verb = isDeletion ? words.delete(what) : words.change(what)
  const renew = (part: string) => void client.invalidateQueries({ queryKey: [kind.key, part] })

  async function send() {
    setProgress(0)
    try {
      const result = await changeSelected(
        kind,
        query,
        count,
        selected,
        changeOf(action, value, removed, field),
        setProgress,
      )
      for (const part of ["rows", "total", "facets", "item", "detail"]) renew(part)
      become(await stillSelected(kind, selected, result.failures))
      if (result.failures.length > 0) setOutcome(result)
      else {
        toast(isDeletion ? words.deleted(what) : words.done(what))
        close()
      }
    } catch (failure) {
      renew("rows")
      throw failure
    } finally {
      setProgress(undefined)
    }
  }
  if (outcome) {
    return (
      // With a key of its own it is another dialog, which takes the focus that the button before it had.
      <Notice key="failures" title={words.failures(outcome.failures.length)} close={close} wide>
        <ul className={css.failures}>
          {outcome.failures.map(({ id, why }) => (
            <li key={id}>
              {nameIn(selected.rows.get(id), id)}
              <span>{why}</span>
            </li>
          ))}
        </ul>
      </Notice>
    )
  }
  return (
    <Ask
      title={isDeletion ? verb : words.set(action === "field" ? (field?.name ?? "") : m.items.fields[action])}
      action={verb}
      look={isDeletion ? "danger" : "primary"}
      isReady={!isDeletion || value.trim() === String(count)}
      known={{ count_changed: words.countChanged }}
      run={send}
      close={close}
    >
      {(action === "status" || action === "priority") && (
        <Select label={m.items.fields[action]} value={value} options={optionsOf(kind, action)} onChange={setValue} />
      )}
      {action === "module" && (
        <Field
          label={m.items.fields.module}
          hint={words.moduleHint}
          value={value}
          onChange={setValue}
          autoFocus
          maxLength={100}
        />
      )}
      {action === "tags" && (
        <>
          <Field label={words.tagsAdd} hint={m.items.tagsHint} value={value} onChange={setValue} autoFocus />
          <Field label={words.tagsRemove} hint={m.items.tagsHint} value={removed} onChange={setRemoved} />
        </>
      )}
      {action === "field" && field && (
        <>
          <Select
            label={m.fields.other}
            value={field.key}
            options={own.map((one) => ({ value: one.key, label: one.name }))}
            onChange={(next) => {
              setKey(next)
              setValue("")
            }}
          />
          <FieldInputs
            fields={[field]}
            draft={{ [`${PREFIX}${field.key}`]: value }}
            errors={{}}
            change={(_, next) => setValue(next)}
          />
        </>
      )}
      {isDeletion && (
        <>
          <p>{words.deleteHint}</p>
          <Field
            label={words.typeCount(String(count))}
            value={value}
            onChange={setValue}
            autoFocus
            inputMode="numeric"
            autoComplete="off"
          />
        </>
      )}
      {progress !== undefined && <p role="status">{words.inParts(formatCount(progress))}</p>}
    </Ask>
  )
}

function changeOf(action: BulkAction, value: string, removed: string, field: ProjectField | undefined): Change {
  if (action === "delete") return { delete: true }
  if (action === "tags") return { tags_add: tagsOf(value), tags_remove: tagsOf(removed) }
  if (action === "field" && field) {
    return { patch: { custom_metadata: { fields: { [field.key]: valueIn(field, value) } } } }
  }
  return { patch: { [action]: value.trim() || null } }
}

/** Return a selection of what failed; with the ETag of now, since it was said what is wrong. */
async function stillSelected(kind: Kind, { isAll, rows }: Selected, failures: Failure[]): Promise<Selected> {
  if (failures.length === 0) return NOTHING
  const ids = failures.map(({ id }) => id).join(",")
  const known = isAll ? (await readRows(kind, { ids, limit: "500" })).items : [...rows.values()]
  const etags = new Map(failures.map(({ id, etag }) => [id, etag]))
  const kept = known.filter(({ id }) => etags.has(id))
  return { isAll: false, rows: new Map(kept.map((row) => [row.id, { ...row, etag: etags.get(row.id) ?? row.etag }])) }
}

const nameIn = (row: ItemRow | undefined, id: string): string => (row ? nameOf(row) : id)
