import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "react"
import { useLocation } from "wouter"
import { ApiProblem } from "../api/problem"
import { sentenceOf } from "../api/sentence"
import { Button } from "../kit/button"
import { Choice } from "../kit/choice"
import { FactList, type Facts } from "../kit/facts"
import { optionsOf } from "../kit/filter"
import { Refusal } from "../kit/form"
import { Page } from "../kit/page"
import { useShortcuts } from "../kit/shortcuts"
import { NotYet } from "../kit/states"
import { complain } from "../kit/toast"
import { formatCount, m } from "../messages"
import { type Inspection, inspect, type Options, upload } from "./api"
import { useDropped } from "./dropped"
import css from "./exchange.module.css"
import { type Column, carriedOver, type Lost, type Mapping } from "./mapping"
import { MappingEditor } from "./mapping-editor"
import { OptionFields } from "./options"
import { Preview } from "./preview"
import { inUnits, useSecondsLeft } from "./progress"

const words = m.exchange
/** Options that say how a file is read: with another, it looks different. */
const OF_READING = ["encoding", "source_system", "format", "kind"]

/** What the objects of a list can be that do not say it themselves. */
const { links: _, ...OBJECTS } = words.mapping.rowOf

/** Exports of Traceline, which alone can be restored. */
const NATIVE = new Set(["json", "ndjson"])

/** What was done with the columns of this file stays until another is asked for. */
function ignore() {}

/** What a file is, what its columns become and what happens with them; then it is sent to be planned. */
export function Setup({ file, choose }: { file: File; choose: (file: File | undefined) => void }) {
  const [mapping, setMapping] = useState<Mapping>()
  const [lost, setLost] = useState<Lost[]>([])
  const [options, setOptions] = useState<Options>({})
  const [place, setPlace] = useState<Options>({})
  const [sent, setSent] = useState<number>()
  const [error, setError] = useState<unknown>()
  const stop = useRef<AbortController>(undefined)
  const asking = useRef(0)
  /** What was proposed last: what differs from it was set by hand. */
  const base = useRef<{ mapping: Mapping; columns: Column[] }>(undefined)
  const client = useQueryClient()
  const [, go] = useLocation()
  const ofReading = OF_READING.flatMap((name) => (options[name] ? [[name, options[name]]] : []))
  const reading: Options = { ...Object.fromEntries(ofReading), ...place }
  const query = useQuery({
    queryKey: ["inspect", file.name, file.size, file.lastModified, reading, mapping],
    queryFn: ({ signal }) => inspect(file, reading, mapping, signal),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    meta: { live: false },
  })
  useEffect(() => () => stop.current?.abort(), [])
  useDropped(ignore)
  async function readAs(preset: string) {
    const found = await inspect(file, { ...reading, mapping: preset }, undefined)
    if (found.mapping) setMapping(found.mapping as Mapping)
  }
  function change(next: Mapping | undefined) {
    setMapping(next)
    setLost([])
  }
  /** Have the mapping proposed anew for another sheet, header, separator, encoding or kind. */
  async function proposeAnew(asked: Options) {
    const mine = ++asking.current
    const { kind, encoding, ...where } = asked
    const sheet = mapping?.sheet ?? data?.mapping?.sheet
    const here: Options = where.sheet
      ? where
      : { ...place, ...(kind && sheet ? { sheet: String(sheet) } : {}), ...where }
    const found = await inspect(
      file,
      { ...reading, ...(encoding && { encoding }), ...here, ...(kind && { kind }) },
      undefined,
    )
    if (mine !== asking.current || !found.mapping) return
    const to = { mapping: found.mapping as Mapping, columns: found.columns }
    const kept = mapping && base.current ? carriedOver(mapping, base.current, to) : undefined
    base.current = to
    setPlace(here)
    setMapping(kept?.isOwn ? kept.mapping : kind ? to.mapping : undefined)
    setLost(kept?.lost ?? [])
  }
  function setReading(next: Options) {
    setOptions(next)
    const isOther = next.encoding !== options.encoding
    // What is typed is no encoding before its last letter.
    if (isOther && mapping) void proposeAnew({ encoding: next.encoding ?? "" }).catch(() => {})
  }
  async function start() {
    stop.current = new AbortController()
    setError(undefined)
    setSent(0)
    try {
      const job = await upload(file, { ...options, ...place }, mapping, setSent, stop.current.signal)
      client.setQueryData(["imports", job.id], job)
      void client.invalidateQueries({ queryKey: ["imports", "list"] })
      go(`/imports/${job.id}`)
    } catch (failure) {
      if (!stop.current.signal.aborted) setError(failure)
      setSent(undefined)
    }
  }
  useShortcuts([{ keys: "Mod+Enter", label: words.start, run: () => sent === undefined && void start() }])
  // A mapping that cannot be leaves what was seen before it, to be mended there.
  const last = useRef<Inspection>(undefined)
  if (query.data) last.current = query.data
  const data = last.current
  if (!mapping && query.data?.mapping && !query.isPlaceholderData) {
    base.current = { mapping: query.data.mapping as Mapping, columns: query.data.columns }
  }
  const refusal = query.error instanceof ApiProblem ? query.error : undefined
  const isTooLarge = refusal?.status === 413
  const [hasNoKinds, setNoKinds] = useState(false)
  if (refusal?.code === "kind_missing" && !hasNoKinds) setNoKinds(true)
  const optionFields = <OptionFields options={options} change={setReading} isNative={NATIVE.has(data?.format ?? "")} />
  return (
    <Page
      title={file.name}
      actions={
        <Button isDisabled={sent !== undefined} onPress={() => choose(undefined)}>
          {words.file.another}
        </Button>
      }
    >
      <div className={css.setup}>
        {data && query.error ? <Refusal>{sentenceOf(query.error)}</Refusal> : <NotYet query={query} rows={6} />}
        {hasNoKinds && (
          <div className={css.line}>
            <span aria-hidden="true">{words.mapping.objectsAre}</span>
            <Choice
              label={words.mapping.objectsAre}
              value={options.kind ?? ""}
              options={optionsOf(OBJECTS)}
              onChange={(kind) => setOptions({ ...options, kind })}
            />
          </div>
        )}
        {!data && refusal?.status === 422 && optionFields}
        {(data || isTooLarge) && (
          <>
            {data && <Recognised inspection={data} file={file} />}
            {data?.mapping && data.columns.length > 0 && (
              <MappingEditor
                inspection={data}
                mapping={mapping ?? (data.mapping as Mapping)}
                isOwn={mapping !== undefined}
                lost={lost}
                change={change}
                proposeAnew={(asked) => void proposeAnew(asked).catch(complain)}
                readAs={(preset) => void readAs(preset).catch(complain)}
              />
            )}
            {data && <Preview inspection={data} isStale={query.isPlaceholderData} />}
            {optionFields}
            {error !== undefined && <Refusal>{sentenceOf(error)}</Refusal>}
            {sent === undefined ? (
              <div className={css.start}>
                <Button look="primary" keys="Mod+Enter" onPress={() => void start()}>
                  {words.start}
                </Button>
                <p className={css.quiet}>{words.startHint}</p>
              </div>
            ) : (
              <Upload sent={sent} size={file.size} cancel={() => stop.current?.abort()} />
            )}
          </>
        )}
      </div>
    </Page>
  )
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

function Recognised({ inspection, file }: { inspection: Inspection; file: File }) {
  const { format, encoding, dialect, preset, sheets, warnings } = inspection
  const { delimiter } = (dialect ?? {}) as { delimiter?: string }
  const facts: Facts = [
    [words.recognised.format, formatName(format)],
    [words.job.size, sizeOf(file.size)],
    [words.recognised.preset, preset && (words.mapping.presets[preset] ?? preset)],
    [words.recognised.encoding, encoding],
    [words.recognised.delimiter, delimiter && (words.recognised.delimiters[delimiter] ?? delimiter)],
    [words.recognised.sheet, sheets.map(({ name }) => name).join(", ")],
  ]
  return (
    <section className={css.part} aria-label={words.recognised.title}>
      <h2>{words.recognised.title}</h2>
      <FactList facts={facts} areBeside />
      {warnings.length > 0 && (
        <ul className={css.remarks} aria-label={words.recognised.warnings}>
          {warnings.map(({ message }) => (
            <li key={message}>▲ {message}</li>
          ))}
        </ul>
      )}
    </section>
  )
}
