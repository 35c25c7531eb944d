import { Ago } from "../kit/ago"
import { FactList, type Facts } from "../kit/facts"
import { InlineSelect } from "../kit/inline-select"
import { complain } from "../kit/toast"
import { m, people } from "../messages"
import type { Read } from "./api"
import { optionsOf, safeAddress } from "./fields"
import css from "./item.module.css"
import { type Item, type Kind, TEST_CASES, word } from "./kinds"
import type { Edits } from "./merge"
import { shownValue, useProjectFields, valuesOf } from "./project-fields"

const names = m.items.fields

type Props = {
  kind: Kind
  item: Item
  /** Save a change at once; without it nothing can be changed here. */
  save?: (edits: Edits) => Promise<Read | undefined>
}

/** The short fields of an item; status and priority can be changed in place. */
export function ItemFacts({ kind, item, save }: Props) {
  const closed = (field: "status" | "priority") => (
    <Closed key={field} kind={kind} field={field} value={item[field]} save={save} />
  )
  const values = valuesOf(item.custom_metadata)
  const own = useProjectFields(kind).filter(({ key }) => shownValue(values[key]) !== "")
  const ofTestCases: Facts = [
    [names.automation_status, item.automation_status && word(item.automation_status)],
    [names.execution_time_minutes, item.execution_time_minutes],
  ]
  const ofRequirements: Facts = [
    [names.level, item.level],
    [names.derived, item.derived && m.items.derived],
    [names.rationale, item.rationale],
  ]
  return (
    <FactList
      facts={[
        [names.status, closed("status")],
        [names.priority, closed("priority")],
        [names.type, word(item.type)],
        [names.module, item.module],
        [names.tags, item.tags.length > 0 && <Tags key="tags" tags={item.tags} />],
        ...(kind === TEST_CASES ? ofTestCases : []),
        ...own.map((field): Facts[number] => [field.name, <Value key={field.key} value={values[field.key]} />]),
        [names.section, item.section.join(" › ")],
        ...(kind === TEST_CASES ? [] : ofRequirements),
        [names.source_system, item.source_system],
        [names.source_url, item.source_url && <Source key="source" text={item.source_url} />],
        [names.created_by, item.created_by && people(item.created_by)],
        [names.created_at, <Ago key="created" iso={item.created_at} />],
        [names.updated_at, <Ago key="updated" iso={item.updated_at} />],
        [names.version, item.version],
      ]}
    />
  )
}

/** The value of a field of the project; an address leads where it says. */
function Value({ value }: { value: unknown }) {
  return typeof value === "string" ? <Source text={value} /> : shownValue(value)
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
