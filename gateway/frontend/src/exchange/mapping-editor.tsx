import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { nameOfField, optionsOf } from "../items/fields"
import { type Kind, REQUIREMENTS, TEST_CASES } from "../items/kinds"
import { Button } from "../kit/button"
import { Choice } from "../kit/choice"
import { Field } from "../kit/field"
import { optionsOf as asOptions } from "../kit/filter"
import { Ask, useFields } from "../kit/form"
import { InlineSelect } from "../kit/inline-select"
import { Select } from "../kit/select"
import { complain, toast } from "../kit/toast"
import { formatCount, formatShare, m } from "../messages"
import { type Inspection, type Options, removeMapping, savedMappings, saveMapping } from "./api"
import css from "./exchange.module.css"
import * as mappings from "./mapping"
import { type Closed, type Column, IGNORE, type Lost, type Mapping, REST, type Target } from "./mapping"

const words = m.exchange.mapping
const AS_IT_IS = ""
const PROPOSED = "(proposed)"
const OWN = "(own)"
const SEARCHED_ROWS = 30

type Props = {
  inspection: Inspection
  mapping: Mapping
  /** Whether it is another than the proposed one. */
  isOwn: boolean
  /** What was set by hand before and does not fit here. */
  lost: Lost[]
  change: (mapping: Mapping | undefined) => void
  /** Have the mapping proposed anew, for another sheet, header, separator or kind. */
  proposeAnew: (asked: Options) => void
  /** Have the file read as the exports of a tool are. */
  readAs: (preset: string) => void
}

/** Which column becomes which field, and what its values mean. */
export function MappingEditor(props: Props) {
  const { inspection, mapping, isOwn, lost, change, proposeAnew, readAs } = props
  const { columns, sheets, dialect } = inspection
  const [open, setOpen] = useState<"text" | "save">()
  return (
    <div className={css.part}>
      <h2 id="mapping">{words.title}</h2>
      <p className={css.quiet}>{words.hint}</p>
      <div className={css.line}>
        <Saved mapping={mapping} isOwn={isOwn} change={change} readAs={readAs} />
        <Choice
          label={words.rowsAre}
          value={mapping.kind}
          options={asOptions(words.rowOf)}
          onChange={(kind) => proposeAnew({ kind })}
        />
        {sheets.length > 1 && (
          <Select
            label={m.exchange.recognised.sheet}
            value={String(mapping.sheet ?? sheets[0]?.name)}
            options={sheets.map(({ name }) => ({ value: name, label: name }))}
            onChange={(sheet) => proposeAnew({ sheet })}
          />
        )}
        {mapping.header_row !== undefined && (
          <Select
            label={words.headerRow}
            value={String(mapping.header_row)}
            options={rowsUpTo(Number(mapping.header_row))}
            onChange={(header_row) => proposeAnew({ header_row })}
          />
        )}
        {dialect && (
          <Select
            label={m.exchange.recognised.delimiter}
            value={String(mapping.delimiter ?? dialect.delimiter)}
            options={asOptions(m.exchange.recognised.delimiters)}
            onChange={(delimiter) => proposeAnew({ delimiter })}
          />
        )}
        <Button look="quiet" onPress={() => setOpen("save")}>
          {words.save}
        </Button>
        <Button look="quiet" onPress={() => setOpen("text")}>
          {words.asText}
        </Button>
      </div>
      {lost.length > 0 && (
        <div role="status">
          <ul className={css.remarks}>
            {lost.map(({ said, target }) => (
              <li key={`${said} ${target}`}>▲ {words.lost(said, nameOf(target))}</li>
            ))}
          </ul>
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
      <section className={css.scroller} tabIndex={0} aria-labelledby="mapping">
        <table className={css.table}>
          <thead>
            <tr>
              <th scope="col">{words.column}</th>
              <th scope="col">{words.samples}</th>
              <th scope="col">{words.becomes}</th>
              <th scope="col">{words.why}</th>
            </tr>
          </thead>
          <tbody>
            {columns.map((column) => (
              <ColumnRow key={column.position} column={column} columns={columns} mapping={mapping} change={change} />
            ))}
          </tbody>
        </table>
      </section>
      <Constants mapping={mapping} change={change} />
      {open === "text" && <AsText mapping={mapping} change={change} close={() => setOpen(undefined)} />}
      {open === "save" && <Save mapping={mapping} close={() => setOpen(undefined)} />}
    </div>
  )
}

/** Rows that may have the names of the columns: those that are searched for them, and the one that has them. */
function rowsUpTo(row: number) {
  return Array.from({ length: Math.max(SEARCHED_ROWS, row) }, (_, at) => ({
    value: String(at + 1),
    label: formatCount(at + 1),
  }))
}

type ColumnProps = { column: Column; columns: Column[]; mapping: Mapping; change: (mapping: Mapping) => void }

function ColumnRow({ column, columns, mapping, change }: ColumnProps) {
  const { name, position, samples, blanks, confidence, reason } = column
  const target = mappings.targetOf(mapping, column)
  const title = name || words.unnamed(position)
  const closed = mappings.closedOf(mapping).find((field) => field === target)
  return (
    <tr>
      <th scope="row">
        {title}
        {blanks > 0 && <span className={css.quiet}> {words.blank(formatCount(blanks))}</span>}
      </th>
      <td className={css.samples} title={samples.join("\n")}>
        {samples.slice(0, 3).join(" · ")}
      </td>
      <td>
        <InlineSelect
          label={words.becomesOf(title)}
          value={target}
          options={mappings.targetsOf(mapping).map((value) => ({ value, label: nameOf(value) }))}
          onChange={(next) => change(mappings.withTarget(mapping, columns, column, next))}
        />
        {closed && <Values field={closed} samples={samples} mapping={mapping} change={change} />}
      </td>
      <td className={css.quiet}>
        {[confidence ? words.sure(formatShare(confidence)) : "", reason].filter(Boolean).join(": ")}
      </td>
    </tr>
  )
}

/** Return the kind that rows become, unless they are links. */
const kindOf = ({ kind }: Mapping): Kind | undefined =>
  ({ requirements: REQUIREMENTS, test_cases: TEST_CASES, links: undefined })[kind]

function nameOf(target: Target): string {
  if (target === REST) return words.rest
  if (target === IGNORE) return words.ignore
  const [group, part = ""] = target.split(".")
  if (group === "links") return words.linkTo[part as keyof typeof words.linkTo]
  if (group === "steps") return words.steps[part as keyof typeof words.steps]
  return (m.items.fields as Record<string, string>)[target] ?? words.ofLinks[target] ?? nameOfField(target)
}

type ValuesProps = { field: Closed; samples: string[]; mapping: Mapping; change: (mapping: Mapping) => void }

/** What a value of a column is called where a mapping lists it. */
function nameOfValue(value: string) {
  return value === "*" ? words.others : value || words.blankCells
}

/** What each value of a column means in a field that takes only some. */
function Values({ field, samples, mapping, change }: ValuesProps) {
  const kind = kindOf(mapping)
  const values = mapping.fields[field]?.values ?? {}
  const said = [...new Set([...Object.keys(values), ...samples])]
  if (!kind) return null
  return (
    <details className={css.values}>
      <summary>{words.values(nameOfField(field))}</summary>
      <ul>
        {said.map((one) => (
          <li key={one}>
            <span>{nameOfValue(one)}</span>
            <InlineSelect
              label={words.valueOf(nameOfValue(one))}
              value={values[one] ?? AS_IT_IS}
              options={[{ value: AS_IT_IS, label: words.asItIs }, ...optionsOf(kind, field)]}
              onChange={(value) => change(mappings.withValue(mapping, field, one, value || undefined))}
            />
          </li>
        ))}
      </ul>
    </details>
  )
}

/** One value for every row, of closed fields that no column fills. */
function Constants({ mapping, change }: { mapping: Mapping; change: (mapping: Mapping) => void }) {
  const kind = kindOf(mapping)
  const free = mappings.closedOf(mapping).filter((field) => {
    const rule = mapping.fields[field]
    return rule === undefined || rule.constant !== undefined
  })
  if (!kind || free.length === 0) return null
  return (
    <fieldset className={css.constants}>
      <legend>{words.constants}</legend>
      {free.map((field) => (
        <span key={field}>
          <span>{nameOfField(field)}</span>{" "}
          <InlineSelect
            label={words.constantOf(nameOfField(field))}
            value={mapping.fields[field]?.constant ?? AS_IT_IS}
            options={[{ value: AS_IT_IS, label: words.noConstant }, ...optionsOf(kind, field)]}
            onChange={(value) => change(mappings.withConstant(mapping, field, value || undefined))}
          />
        </span>
      ))}
    </fieldset>
  )
}

/** The mappings that were saved, and the one that was proposed. */
function Saved({ mapping, isOwn, change, readAs }: Pick<Props, "mapping" | "isOwn" | "change" | "readAs">) {
  const { data } = useQuery(savedMappings)
  const client = useQueryClient()
  const text = JSON.stringify(mapping)
  const current = isOwn ? data?.items.find((one) => JSON.stringify(one.mapping) === text) : undefined
  function choose(id: string) {
    if (id === PROPOSED) change(undefined)
    if (id in words.presets) readAs(id)
    const chosen = data?.items.find((one) => one.id === id)
    if (chosen) change(chosen.mapping as unknown as Mapping)
  }
  async function remove() {
    if (!current) return
    await removeMapping(current.id, current.etag)
    toast(words.removed(current.name))
    void client.invalidateQueries({ queryKey: savedMappings.queryKey })
  }
  return (
    <>
      <Select
        label={words.use}
        value={current?.id ?? (isOwn ? OWN : PROPOSED)}
        options={[
          { value: PROPOSED, label: words.proposed },
          ...(isOwn && !current ? [{ value: OWN, label: words.own }] : []),
          ...(data?.items ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ...asOptions(words.presets).map(({ value, label }) => ({ value, label: words.exportOf(label) })),
        ]}
        onChange={choose}
      />
      {current && (
        <Button look="quiet" onPress={() => void remove().catch(complain)}>
          {words.remove}
        </Button>
      )}
    </>
  )
}

function Save({ mapping, close }: { mapping: Mapping; close: () => void }) {
  const { values, of } = useFields({ name: "" })
  const name = values.name.trim()
  const client = useQueryClient()
  async function save() {
    await saveMapping(name, mapping)
    toast(words.saved(name))
    void client.invalidateQueries({ queryKey: savedMappings.queryKey })
    close()
  }
  return (
    <Ask title={words.save} action={m.common.save} run={save} close={close} isReady={name !== ""}>
      {(errors) => <Field label={words.name} autoFocus maxLength={100} {...of("name", errors)} />}
    </Ask>
  )
}

function AsText({
  mapping,
  change,
  close,
}: Pick<Props, "mapping"> & { change: (to: Mapping) => void; close: () => void }) {
  const [text, setText] = useState(() => JSON.stringify(mapping, undefined, 2))
  const [error, setError] = useState<string>()
  function take() {
    try {
      change(JSON.parse(text))
      close()
    } catch {
      setError(words.notJson)
    }
  }
  return (
    <Ask title={words.asText} action={words.take} run={take} close={close} wide>
      <Field
        label={words.asText}
        hideLabel
        hint={words.asTextHint}
        lines={18}
        value={text}
        onChange={setText}
        error={error}
        autoFocus
      />
    </Ask>
  )
}
