import { nameOfField, optionsOf } from "../items/fields"
import { InlineSelect } from "../kit/inline-select"
import { Popover } from "../kit/popover"
import { formatCount } from "../messages"
import type { Described } from "./api"
import css from "./exchange.module.css"
import type { Closed, Part } from "./mapping"
import * as mappings from "./mapping"
import { kindOf } from "./names"
import { words as exchange } from "./words"

const words = exchange.sheet
const AS_IT_IS = ""

type Props = { part: Part; field: Closed; column: Described; change: (part: Part) => void }

/** What each value of a column means in a field that takes only some: those that the file has, with their counts. */
export function Values({ part, field, column, change }: Props) {
  const kind = kindOf(part)
  const becomes = part.fields?.[field]?.values ?? {}
  const counts = new Map((column.values ?? []).map(({ value, count }) => [value, count]))
  const said = [...new Set([...counts.keys(), ...Object.keys(becomes)])]
  if (!kind || said.length === 0) return null
  return (
    <Popover label={words.valuesOf(column.name)} button={words.values(counts.size || said.length)}>
      <ul className={css.values}>
        {said.map((one) => (
          <li key={one}>
            <span>
              {nameOf(one)} <span className={css.quiet}>{counts.has(one) && formatCount(counts.get(one) ?? 0)}</span>
            </span>
            <InlineSelect
              label={words.valueOf(nameOf(one))}
              value={becomes[one] ?? AS_IT_IS}
              options={[{ value: AS_IT_IS, label: words.asItIs }, ...optionsOf(kind, field)]}
              onChange={(value) => change(mappings.withValue(part, field, one, value || undefined))}
            />
          </li>
        ))}
      </ul>
    </Popover>
  )
}

/** What a value of a column is called where it stands in a list. */
function nameOf(value: string) {
  return value === "*" ? words.others : value || words.blankCells
}

/** One value for every row, of closed fields that no column fills. */
export function Constants({ part, change }: { part: Part; change: (part: Part) => void }) {
  const kind = kindOf(part)
  const free = mappings.closedOf(part).filter((field) => {
    const rule = part.fields?.[field]
    return rule === undefined || rule.constant !== undefined
  })
  if (!kind || free.length === 0) return null
  return (
    <fieldset className={css.constants}>
      <legend>{words.constants}</legend>
      {free.map((field) => (
        <span key={field}>
          <span aria-hidden="true">{nameOfField(field)}</span>{" "}
          <InlineSelect
            label={words.constantOf(nameOfField(field))}
            value={part.fields?.[field]?.constant ?? AS_IT_IS}
            options={[{ value: AS_IT_IS, label: words.noConstant }, ...optionsOf(kind, field)]}
            onChange={(value) => change(mappings.withConstant(part, field, value || undefined))}
          />
        </span>
      ))}
    </fieldset>
  )
}
