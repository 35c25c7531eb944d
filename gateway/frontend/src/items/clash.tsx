import { useState } from "react"
import { Diff } from "../kit/diff"
import { Ask } from "../kit/form"
import { m } from "../messages"
import css from "./clash.module.css"
import { textOf } from "./fields"
import type { Item } from "./kinds"
import { compare, type Edits, type Field, without } from "./merge"

const words = m.items.clash

type Props = {
  base: Partial<Item>
  edits: Edits
  theirs: Item
  onCancel: () => void
  onSave: (edits: Edits) => Promise<void>
}

/** Both versions of what two people changed at the same time; for each field one of them is taken. */
export function ClashDialog({ base, edits, theirs, onCancel, onSave }: Props) {
  const { clashing, others } = compare(base, edits, theirs)
  const [taken, setTaken] = useState<ReadonlySet<Field>>(new Set())
  function take(field: Field, isTheirs: boolean) {
    const next = new Set(taken)
    if (isTheirs) next.add(field)
    else next.delete(field)
    setTaken(next)
  }
  return (
    <Ask
      title={words.title}
      action={m.items.save}
      cancel={m.items.leave}
      run={() => onSave(without(edits, taken))}
      close={onCancel}
      asks="always"
      wide
    >
      <p>{clashing.length > 0 ? words.hint : words.noClash}</p>
      {clashing.map((field) => (
        <fieldset key={field} className={css.field}>
          <legend>{m.items.fields[field]}</legend>
          <Side
            field={field}
            name={words.yours}
            text={textOf(field, edits[field])}
            isTaken={!taken.has(field)}
            take={() => take(field, false)}
          />
          <Side
            field={field}
            name={words.theirs}
            text={textOf(field, theirs[field])}
            isTaken={taken.has(field)}
            take={() => take(field, true)}
          />
          <div className={css.difference}>
            <h3>{words.difference}</h3>
            <Diff before={textOf(field, theirs[field])} after={textOf(field, edits[field])} />
          </div>
        </fieldset>
      ))}
      {others.length > 0 && <p>{words.alsoChanged(others.map((field) => m.items.fields[field]).join(", "))}</p>}
    </Ask>
  )
}

type SideProps = { field: Field; name: string; text: string; isTaken: boolean; take: () => void }

function Side({ field, name, text, isTaken, take }: SideProps) {
  return (
    <label className={css.side} data-taken={isTaken || undefined}>
      <span>
        <input type="radio" name={field} checked={isTaken} onChange={take} /> {name}
      </span>
      <span className={css.text}>{text || words.empty}</span>
    </label>
  )
}
