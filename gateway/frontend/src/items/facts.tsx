import type { ReactNode } from "react"
import { Ago } from "../kit/ago"
import { InlineSelect } from "../kit/inline-select"
import { complain } from "../kit/toast"
import { m } from "../messages"
import type { Read } from "./api"
import { optionsOf, safeAddress } from "./fields"
import css from "./item.module.css"
import { type Item, type Kind, TEST_CASES, word } from "./kinds"
import type { Edits } from "./merge"

const names = m.items.fields

type Props = {
  kind: Kind
  item: Item
  /** Save a change at once; without it nothing can be changed here. */
  save?: (edits: Edits) => Promise<Read | undefined>
}

/** The short fields of an item; status and priority can be changed in place. */
export function Facts({ kind, item, save }: Props) {
  const closed = (field: "status" | "priority") => <Closed kind={kind} field={field} value={item[field]} save={save} />
  return (
    <dl className={css.facts}>
      <Fact name={names.status}>{closed("status")}</Fact>
      <Fact name={names.priority}>{closed("priority")}</Fact>
      <Fact name={names.type}>{word(item.type)}</Fact>
      <Fact name={names.module}>{item.module}</Fact>
      <Fact name={names.tags}>{item.tags.length > 0 && <Tags tags={item.tags} />}</Fact>
      {kind === TEST_CASES && (
        <>
          <Fact name={names.automation_status}>{item.automation_status && word(item.automation_status)}</Fact>
          <Fact name={names.execution_time_minutes}>{item.execution_time_minutes}</Fact>
        </>
      )}
      <Fact name={names.source_system}>{item.source_system}</Fact>
      <Fact name={names.source_url}>{item.source_url && <Source text={item.source_url} />}</Fact>
      <Fact name={names.created_by}>{item.created_by}</Fact>
      <Fact name={names.created_at}>
        <Ago iso={item.created_at} />
      </Fact>
      <Fact name={names.updated_at}>
        <Ago iso={item.updated_at} />
      </Fact>
      <Fact name={names.version}>{item.version}</Fact>
    </dl>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (children === null || children === undefined || children === false || children === "") return null
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

type ClosedProps = Omit<Props, "item"> & { field: "status" | "priority"; value: string }

function Closed({ kind, field, value, save }: ClosedProps) {
  if (!save) return word(value)
  const change = (next: string) => void save({ [field]: next }).catch(complain)
  return <InlineSelect label={names[field]} value={value} options={optionsOf(kind, field)} onChange={change} />
}

function Tags({ tags }: { tags: string[] }) {
  return (
    <ul className={css.tags}>
      {tags.map((tag) => (
        <li key={tag}>{tag}</li>
      ))}
    </ul>
  )
}

/** Where an item comes from: a link where it leads somewhere, else what it says. */
function Source({ text }: { text: string }) {
  const address = safeAddress(text)
  if (!address) return text
  return (
    <a href={address} target="_blank" rel="noopener noreferrer" title={m.items.detail.openSource}>
      {text}
    </a>
  )
}
