import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "react"
import { useLocation } from "wouter"
import { projectFields } from "../items/project-fields"
import { type Inspection, inspect, type Options, upload } from "./api"
import { type AnyMapping, asWhole, type Lost, type Mapping, type OfProject, partsOf, withParts } from "./mapping"
import { type Asked, asking, type Proposals, proposalsOf, takenAnew } from "./sheets"

/** Options that say how a file is read: with another, it looks different. */
const OF_READING = ["encoding", "delimiter", "source_system", "format", "kind"]
const NONE: Proposals = new Map()
const NO_FIELDS: OfProject[] = []

/** How a file is read that waits to be imported, what a person has changed of that, and what it looks like so. */
export function useSetup(file: File) {
  const [mapping, setMapping] = useState<Mapping>()
  const [lost, setLost] = useState<Lost[]>([])
  const [options, setOptions] = useState<Options>({})
  /** What was proposed last of each sheet: what differs from it was set by hand. */
  const [kept, setKept] = useState<Proposals>(NONE)
  /** What a person has said a sheet is, and which row its header. */
  const [asked, setAsked] = useState<ReadonlyMap<string | null, Asked>>(new Map())
  const latest = useRef(0)
  const fields = useQuery(projectFields).data ?? NO_FIELDS
  const reading = readingOf(options)
  const query = useQuery({
    queryKey: ["inspect", file.name, file.size, file.lastModified, reading, mapping],
    queryFn: ({ signal }) => inspect(file, reading, mapping, signal),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    meta: { live: false },
  })
  // A mapping that cannot be leaves what was seen before it, to be mended there.
  const last = useRef<Inspection>(undefined)
  if (query.data) last.current = query.data
  const data = last.current
  const current = mapping ?? data?.record_mapping ?? undefined
  const proposals = mapping === undefined && data ? proposalsOf(data) : kept

  function change(next: Mapping) {
    setKept(proposals)
    setMapping(next)
    setLost([])
  }

  /** Have a sheet proposed anew, for another role or header; with `afresh`, without what was set by hand. */
  async function proposeAnew(sheet: string | null, wanted: Partial<Asked>, afresh = false) {
    if (!current) return
    const before = afresh ? { role: "auto" as const } : (asked.get(sheet) ?? { role: "auto" as const })
    const ask: Asked = { ...before, ...wanted }
    const mine = ++latest.current
    const found = await inspect(file, reading, asking(current, sheet, ask))
    if (mine !== latest.current) return
    const taken = takenAnew(current, found, sheet, afresh ? undefined : proposals.get(sheet), fields)
    setAsked(new Map(asked).set(sheet, ask))
    setKept(new Map(proposals).set(sheet, proposalsOf(found).get(sheet) ?? { parts: [], columns: [] }))
    setMapping(taken.mapping)
    setLost(taken.lost)
  }

  /** Read the file with other options; the separator and the encoding of a table have its columns proposed anew. */
  async function setReading(next: Options) {
    const isOther = ["encoding", "delimiter"].some((name) => next[name] !== options[name])
    if (!isOther || !mapping || !current) {
      setOptions(next)
      return
    }
    const mine = ++latest.current
    // Files with sheets have neither: it is the one table of a file of text.
    const ask = asking({ version: 2, sheets: [] }, null, asked.get(null) ?? { role: "auto" })
    const found = await inspect(file, readingOf(next), ask)
    if (mine !== latest.current) return
    const taken = takenAnew(current, found, null, proposals.get(null), fields)
    setOptions(next)
    setKept(proposalsOf(found))
    setMapping(taken.mapping)
    setLost(taken.lost)
  }

  /** Read the file by settings that were saved; those of one sheet are of the one that is looked at. */
  function readBy(saved: AnyMapping, sheet: string | null) {
    change(data?.tables.length === 0 ? (saved as Mapping) : asWhole(saved, sheet))
  }

  /** Have items of a type of a file without tables become something else. */
  function setType(type: string, role: string) {
    const types = { ...(mapping?.types as Record<string, string> | undefined), [type]: role }
    change({ version: 1, kind: "requirements", types } as unknown as Mapping)
  }

  async function readAs(preset: string) {
    const found = await inspect(file, { ...reading, mapping: preset }, undefined)
    setKept(proposalsOf(found))
    if (found.record_mapping) setMapping(found.record_mapping)
    setLost([])
  }

  function reset() {
    setMapping(undefined)
    setAsked(new Map())
    setLost([])
  }

  return {
    query,
    data,
    mapping,
    current,
    options,
    lost,
    proposals,
    fields,
    change,
    proposeAnew,
    setReading,
    readBy,
    setType,
    readAs,
    reset,
    leaveOut: (sheet: string | null) => current && change(withParts(current, sheet, [])),
    /** Whether what is proposed for a sheet was changed. */
    isChanged: (sheet: string | null) =>
      mapping !== undefined &&
      JSON.stringify(partsOf(mapping, sheet)) !== JSON.stringify(proposals.get(sheet)?.parts ?? []),
  }
}

export type SetupState = ReturnType<typeof useSetup>

const readingOf = (options: Options): Options =>
  Object.fromEntries(OF_READING.flatMap((name) => (options[name] ? [[name, options[name]]] : [])))

/** Send a file to be planned, and go to its plan. */
export function useUpload(file: File, options: Options, mapping: Mapping | undefined) {
  const [sent, setSent] = useState<number>()
  const [error, setError] = useState<unknown>()
  const stop = useRef<AbortController>(undefined)
  const client = useQueryClient()
  const [, go] = useLocation()
  useEffect(() => () => stop.current?.abort(), [])
  async function start() {
    stop.current = new AbortController()
    setError(undefined)
    setSent(0)
    try {
      const job = await upload(file, options, mapping, setSent, stop.current.signal)
      client.setQueryData(["imports", job.id], job)
      void client.invalidateQueries({ queryKey: ["imports", "list"] })
      go(`/imports/${job.id}`)
    } catch (failure) {
      if (!stop.current.signal.aborted) setError(failure)
      setSent(undefined)
    }
  }
  return { sent, error, start, cancel: () => stop.current?.abort() }
}
