import { useQueryClient } from "@tanstack/react-query"
import { type FormEvent, useState } from "react"
import { ApiProblem } from "../api/problem"
import { Button } from "../kit/button"
import { Dialog, DialogButtons } from "../kit/dialog"
import { Field } from "../kit/field"
import { Select } from "../kit/select"
import { toast } from "../kit/toast"
import { formatCount, m } from "../messages"
import { type Change, type Query, readRows } from "./api"
import { changeSelected, type Failure, type Outcome } from "./change-many"
import { nameOf, optionsOf, sentenceOf, tagsOf } from "./fields"
import type { ItemRow, Kind } from "./kinds"
import css from "./list.module.css"
import { countOf, NOTHING, type Selected } from "./selection"

export type BulkAction = "status" | "priority" | "module" | "tags" | "delete"

type Props = {
  kind: Kind
  query: Query
  total: number
  selected: Selected
  become: (selected: Selected) => void
  action: BulkAction
  close: () => void
}

const words = m.items.bulk

/** Asks what many are to become, does it, and says of each that failed why. */
export function BulkDialog({ kind, query, total, selected, become, action, close }: Props) {
  // What was asked for: others go on meanwhile, and what is selected shrinks to what failed.
  const [count] = useState(() => countOf(selected, total))
  const [value, setValue] = useState(
    action === "status" ? (kind.statuses[0] ?? "") : action === "priority" ? "medium" : "",
  )
  const [removed, setRemoved] = useState("")
  const [progress, setProgress] = useState<number>()
  const [error, setError] = useState<string>()
  const [outcome, setOutcome] = useState<Outcome>()
  const client = useQueryClient()
  const what = count === 1 ? kind.words.oneOf : kind.words.some(formatCount(count))
  const verb = action === "delete" ? words.delete(what) : words.change(what)
  const isReady = action !== "delete" || value.trim() === String(count)

  async function send(event: FormEvent) {
    event.preventDefault()
    if (!isReady) return
    setProgress(0)
    setError(undefined)
    try {
      const result = await changeSelected(kind, query, count, selected, changeOf(action, value, removed), setProgress)
      for (const part of ["rows", "total", "facets", "item"])
        void client.invalidateQueries({ queryKey: [kind.key, part] })
      become(await stillSelected(kind, selected, result.failures))
      if (result.failures.length > 0) setOutcome(result)
      else {
        toast(action === "delete" ? words.deleted(what) : words.done(what))
        close()
      }
    } catch (failure) {
      const isOther = failure instanceof ApiProblem && failure.code === "count_changed"
      if (isOther) void client.invalidateQueries({ queryKey: [kind.key, "rows"] })
      setError(isOther ? words.countChanged : sentenceOf(failure))
    } finally {
      setProgress(undefined)
    }
  }
  if (outcome) {
    return (
      // With a key of its own it is another dialog, which takes the focus that the button before it had.
      <Dialog key="failures" title={words.failures(formatCount(outcome.failures.length))} isOpen onClose={close} wide>
        <ul className={css.failures}>
          {outcome.failures.map(({ id, why }) => (
            <li key={id}>
              {nameIn(selected.rows.get(id), id)}
              <span>{why}</span>
            </li>
          ))}
        </ul>
        <DialogButtons>
          <Button look="primary" onPress={close}>
            {m.common.close}
          </Button>
        </DialogButtons>
      </Dialog>
    )
  }
  return (
    <Dialog title={action === "delete" ? verb : words.set(m.items.fields[action])} isOpen onClose={close}>
      <form className={css.form} onSubmit={send}>
        <Fields
          kind={kind}
          action={action}
          count={count}
          value={value}
          setValue={setValue}
          removed={removed}
          setRemoved={setRemoved}
        />
        {progress !== undefined && <p role="status">{words.inParts(formatCount(progress))}</p>}
        {error && (
          <p role="alert" className={css.error}>
            {error}
          </p>
        )}
        <DialogButtons>
          <Button onPress={close}>{m.common.cancel}</Button>
          <Button
            type="submit"
            look={action === "delete" ? "danger" : "primary"}
            isDisabled={!isReady || progress !== undefined}
          >
            {verb}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  )
}

type FieldsProps = {
  kind: Kind
  action: BulkAction
  count: number
  value: string
  setValue: (value: string) => void
  removed: string
  setRemoved: (value: string) => void
}

function Fields({ kind, action, count, value, setValue, removed, setRemoved }: FieldsProps) {
  if (action === "status" || action === "priority") {
    return <Select label={m.items.fields[action]} value={value} options={optionsOf(kind, action)} onChange={setValue} />
  }
  if (action === "module") {
    const label = m.items.fields.module
    return <Field label={label} hint={words.moduleHint} value={value} onChange={setValue} autoFocus maxLength={100} />
  }
  if (action === "tags") {
    return (
      <>
        <Field label={words.tagsAdd} hint={m.items.tagsHint} value={value} onChange={setValue} autoFocus />
        <Field label={words.tagsRemove} hint={m.items.tagsHint} value={removed} onChange={setRemoved} />
      </>
    )
  }
  return (
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
  )
}

function changeOf(action: BulkAction, value: string, removed: string): Change {
  if (action === "delete") return { delete: true }
  if (action === "tags") return { tags_add: tagsOf(value), tags_remove: tagsOf(removed) }
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
