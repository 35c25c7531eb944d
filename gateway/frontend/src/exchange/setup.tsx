import { useState } from "react"
import { ApiProblem } from "../api/problem"
import { sentenceOf } from "../api/sentence"
import { Button } from "../kit/button"
import { Choice } from "../kit/choice"
import { useDropped } from "../kit/dropped"
import { optionsOf } from "../kit/filter"
import { Refusal } from "../kit/form"
import { Page } from "../kit/page"
import { Select } from "../kit/select"
import { useShortcuts } from "../kit/shortcuts"
import { NotYet } from "../kit/states"
import { Tabs } from "../kit/tabs"
import { formatCount, m } from "../messages"
import { Advanced } from "./advanced"
import type { Inspection, Table, Typed } from "./api"
import css from "./exchange.module.css"
import { type Mapping, partsOf, roleOf } from "./mapping"
import { plainly, roleName } from "./names"
import { OptionFields } from "./options"
import { Preview } from "./preview"
import { inUnits, useSecondsLeft } from "./progress"
import { Sheet, Types } from "./sheet"
import { problemsOf, rolesOf } from "./sheets"
import { type SetupState, useSetup, useUpload } from "./use-setup"
import { words } from "./words"

/** Exports of Traceline, which alone can be restored. */
const NATIVE = new Set(["json", "ndjson"])
/** More tabs than these are no help. */
const MOST_TABS = 12
const MOST_SAID = 8
/** What is said at the column itself. */
const AT_COLUMNS = new Set(["unsure_column", "column_beside"])

/** What was done with the columns of this file stays until another is asked for. */
function ignore() {}

/** What a file has, sheet by sheet, and what becomes of it; then it is sent to be planned. */
export function Setup({ file, choose }: { file: File; choose: (file: File | undefined) => void }) {
  const setup = useSetup(file)
  const { query, data, mapping, options } = setup
  const { sent, error, start, cancel } = useUpload(file, options, mapping)
  const [chosen, setChosen] = useState<string>()
  useDropped(ignore)
  useShortcuts([{ keys: "Mod+Enter", label: words.start, run: () => sent === undefined && void start() }])
  const refusal = query.error instanceof ApiProblem ? query.error : undefined
  const isTooLarge = refusal?.status === 413
  const tables = data?.tables ?? []
  const shown = tables.find(({ sheet }) => sheet === chosen) ?? firstOf(setup)
  return (
    <Page
      title={file.name}
      actions={
        <Button isDisabled={sent !== undefined} onPress={() => choose(undefined)}>
          {words.file.another}
        </Button>
      }
    >
      <div className={css.setup} aria-busy={query.isPlaceholderData || undefined}>
        {data && query.error ? (
          <Refusal>{plainly(sentenceOf(query.error))}</Refusal>
        ) : (
          <NotYet query={query} rows={6} />
        )}
        <Kinds setup={setup} refusal={refusal} />
        {data && <Recognised inspection={data} file={file} />}
        {shown && <Sheets setup={setup} tables={tables} shown={shown} choose={setChosen} />}
        {data && tables.length === 0 && <OwnTypes setup={setup} types={data.types} />}
        {data && tables.length === 0 && <Preview inspection={data} />}
        {data && <Warnings inspection={data} />}
        {(data || isTooLarge) && (
          <OptionFields
            options={options}
            change={(next) => void setup.setReading(next).catch(() => {})}
            isNative={NATIVE.has(data?.format ?? "")}
          />
        )}
        {(data || isTooLarge || refusal?.status === 422) && <Advanced setup={setup} sheet={shown?.sheet ?? null} />}
        {error !== undefined && <Refusal>{sentenceOf(error)}</Refusal>}
        {(data || isTooLarge) && (
          <section className={css.start} aria-label={words.coming}>
            {sent === undefined ? (
              <>
                {setup.current && data && <Coming inspection={data} mapping={setup.current} />}
                <Button look="primary" keys="Mod+Enter" onPress={() => void start()}>
                  {words.start}
                </Button>
                <p className={css.hint}>{words.startHint}</p>
              </>
            ) : (
              <Upload sent={sent} size={file.size} cancel={cancel} />
            )}
          </section>
        )}
      </div>
    </Page>
  )
}

/** Return the sheet that is shown at first: the first of those that are read. */
function firstOf({ data, current }: SetupState): Table | undefined {
  if (!data || !current) return data?.tables[0]
  return data.tables.find(({ sheet }) => partsOf(current, sheet).length > 0) ?? data.tables[0]
}

type SheetsProps = { setup: SetupState; tables: Table[]; shown: Table; choose: (sheet: string) => void }

/** The sheets of a file, a tab each with what it is; a file of one table has it alone. */
function Sheets({ setup, tables, shown, choose }: SheetsProps) {
  const { data, current } = setup
  const sheet = <Sheet key={shown.sheet} setup={setup} table={shown} />
  if (tables.length < 2 || !current || !data) return sheet
  const label = ({ sheet: name }: Table) => name ?? ""
  const about = (table: Table) => roleName(roleOf(partsOf(current, table.sheet)))
  if (tables.length > MOST_TABS) {
    const options = tables.map((table) => ({ value: label(table), label: `${label(table)}: ${about(table)}` }))
    return (
      <>
        <div className={css.line}>
          <Select label={words.recognised.sheet} value={label(shown)} options={options} onChange={choose} />
        </div>
        {sheet}
      </>
    )
  }
  const tabs = tables.map((table) => {
    const wrong = problemsOf(data, table.sheet).size
    const count = [about(table), wrong > 0 && words.sheet.wrong(wrong)].filter(Boolean).join(" ")
    return { id: label(table), label: label(table), count, content: () => sheet }
  })
  return <Tabs label={words.sheet.sheets} tabs={tabs} chosen={label(shown)} onChange={choose} />
}

/** What the objects of a file are that do not say it themselves. */
function Kinds({ setup, refusal }: { setup: SetupState; refusal: ApiProblem | undefined }) {
  const [isNeeded, setNeeded] = useState(false)
  const { options, setReading } = setup
  if (refusal?.code === "kind_missing" && !isNeeded) setNeeded(true)
  if (!isNeeded) return null
  return (
    <div className={css.line}>
      <span aria-hidden="true">{words.sheet.objectsAre}</span>
      <Choice
        label={words.sheet.objectsAre}
        value={options.kind ?? ""}
        options={optionsOf(words.sheet.objects)}
        onChange={(kind) => void setReading({ ...options, kind })}
      />
    </div>
  )
}

/** What items become of the types that a format has of its own, those that are chapters now, too. */
function OwnTypes({ setup, types }: { setup: SetupState; types: Typed[] }) {
  const said = (setup.mapping?.types as Record<string, string> | undefined) ?? {}
  const others = Object.entries(said)
    .filter(([name]) => !types.some(({ type }) => type === name))
    .map(([type, proposed]) => ({ sheet: null, type, count: 0, example: "", proposed, reason: "" }))
  const all = [...types, ...others]
  return all.length > 0 && <Types types={all} said={said} others="structure" change={setup.setType} />
}

/** Return what a format is called. */
export function formatName(format: string | null): string {
  const { formats, readFormats } = words.export
  const written = formats as Record<string, { name: string }>
  return written[format ?? ""]?.name ?? readFormats[format ?? ""] ?? format ?? ""
}

/** Return a size as it is read. */
export function sizeOf(bytes: number): string {
  const [amount, unit] = inUnits(bytes)
  return words.size(formatCount(amount), unit)
}

function Upload({ sent, size, cancel }: { sent: number; size: number; cancel: () => void }) {
  const share = Math.min(1, sent / size)
  const left = useSecondsLeft(share, share < 1)
  return (
    <div className={css.progress} role="status">
      <span>
        {words.upload.title}: {words.upload.sent(sizeOf(Math.min(sent, size)), sizeOf(size))}
        {left !== undefined && `, ${words.left(left)}`}
      </span>
      <progress max={1} value={share} aria-label={words.progress} />
      <Button look="quiet" onPress={cancel}>
        {m.common.cancel}
      </Button>
    </div>
  )
}

/** What a file is, in a line. */
function Recognised({ inspection, file }: { inspection: Inspection; file: File }) {
  const { format, preset, sheets, encoding } = inspection
  const tool = preset && (words.advanced.presets[preset] ?? undefined)
  const said = [
    formatName(format),
    tool && words.recognised.exportOf(tool),
    sizeOf(file.size),
    sheets.length > 1 && words.recognised.sheets(sheets.length),
    encoding,
  ]
  return <p className={css.quiet}>{said.filter(Boolean).join(" · ")}</p>
}

/** What a person has to know of a file, beside what is said at its columns. */
function Warnings({ inspection }: { inspection: Inspection }) {
  const warnings = inspection.warnings.filter(({ code }) => !AT_COLUMNS.has(code))
  if (warnings.length === 0) return null
  return (
    <ul className={css.remarks} aria-label={words.recognised.warnings}>
      {warnings.map(({ message }) => (
        <li key={message}>▲ {plainly(message)}</li>
      ))}
    </ul>
  )
}

/** What comes of each sheet, as far as it is known before it is planned. */
function Coming({ inspection, mapping }: { inspection: Inspection; mapping: Mapping }) {
  const read = rolesOf(inspection, mapping)
  const isAlone = inspection.tables.length === 1
  if (read.length === 0) return null
  return (
    <p>
      {read.slice(0, MOST_SAID).map(({ table, role }) => {
        const what = words.comingAs(roleName(role), words.sheet.rows(table.count))
        return (
          <span key={table.sheet}>
            {words.comingOf(isAlone ? words.recognised.tableOf : (table.sheet ?? ""), what)}{" "}
          </span>
        )
      })}
      {read.length > MOST_SAID && words.more(read.length - MOST_SAID)}
    </p>
  )
}
