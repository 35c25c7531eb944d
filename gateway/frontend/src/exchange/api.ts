import { queryOptions } from "@tanstack/react-query"
import { api } from "../api/client"
import { ApiProblem, problemOf, UNREACHABLE } from "../api/problem"
import type { components } from "../api/schema"
import { addressed } from "../projects/address"
import { whenSignedInAgain } from "../session/session"
import type { AnyMapping, Mapping } from "./mapping"
import { words } from "./words"

type Schemas = components["schemas"]
export type Import = Schemas["Import"]
export type Row = Schemas["ImportRow"]
export type Action = Schemas["ImportAction"]
/** What a file looks like, and how its first rows are read. */
export type Inspection = Omit<Schemas["Inspected"], "record_mapping" | "dialect"> & {
  record_mapping: Mapping | null
  dialect: { delimiter: string } | null
}
export type Table = Schemas["InspectedTable"]
export type Described = Schemas["InspectedColumn"]
export type Typed = Schemas["InspectedType"]
/** What POST /imports is asked for beside the file and its mapping. */
export type Options = Record<string, string>

export const MOST_BYTES = 64 * 1024 * 1024
const CONFLICT = 409
const LOOKED_AT_BYTES = 1024 * 1024
/** An archive is read from its end. */
const ARCHIVES = /\.(xls[xm]|reqifz|zip|tar|gz|tgz)$/i
const EACH_MS = 1000
const IMPORTS = "/api/v1/imports"

/** Check whether an import goes on by itself. */
export const isGoingOn = ({ status }: Pick<Import, "status">): boolean =>
  status === "received" || status === "reading" || status === "applying"

const isBeingIndexed = ({ status, search_ready }: Import): boolean => status === "applied" && !search_ready

/** An import, asked for each second while it goes on. */
export const importOf = (id: string) =>
  queryOptions({
    queryKey: ["imports", id],
    queryFn: ({ signal }) => api.get("/api/v1/imports/{import_id}", { params: { path: { import_id: id } }, signal }),
    refetchInterval: ({ state: { data } }) => (data && (isGoingOn(data) || isBeingIndexed(data)) ? EACH_MS : false),
  })

/** The mappings that somebody has saved. */
export const savedMappings = queryOptions({
  queryKey: ["imports", "mappings"],
  queryFn: ({ signal }) => api.get("/api/v1/imports/mappings", { params: { query: { limit: 500 } }, signal }),
})

/** What can be imported and exported; it is what it is until the next version. */
export const exportFormats = queryOptions({
  queryKey: ["exports", "formats"],
  queryFn: ({ signal }) => api.get("/api/v1/exports/formats", { signal }),
  staleTime: Number.POSITIVE_INFINITY,
})

/** What of the items has no place in an export, as its answer says. */
export const lostIn = (address: string) =>
  queryOptions({
    queryKey: ["exports", "lost", address],
    queryFn: async ({ signal }) => {
      const { headers } = await fetch(address, { method: "HEAD", signal })
      return /^299 - "(.*)"$/.exec(headers.get("Warning") ?? "")?.[1] ?? null
    },
  })

/** Return what a file looks like, and how its first rows are read by a mapping, without one by the proposed one. */
export async function inspect(file: File, query: Options, mapping: AnyMapping | undefined, signal?: AbortSignal) {
  await assertUnchanged(file)
  // A byte more than is looked at says that the file goes on.
  const isWhole = file.size <= LOOKED_AT_BYTES || ARCHIVES.test(file.name)
  const head = isWhole ? file : new File([file.slice(0, LOOKED_AT_BYTES + 1)], file.name, { type: file.type })
  const init = { params: { query: query as never }, body: formOf(head, mapping) as never, signal }
  return api.post("/api/v1/imports/inspect", init) as unknown as Promise<Inspection>
}

/** Send a file to be planned; `tell` hears how many bytes have gone. Fetch does not say that of what it sends. */
export async function upload(
  file: File,
  options: Options,
  mapping: AnyMapping | undefined,
  tell: (sent: number) => void,
  signal: AbortSignal,
): Promise<Import> {
  await assertUnchanged(file)
  const response = await posted(`${IMPORTS}?${new URLSearchParams(options)}`, formOf(file, mapping), tell, signal)
  if (response.status !== 401) return answerOf(response)
  await whenSignedInAgain()
  return upload(file, options, mapping, tell, signal)
}

/** Refuse a file that was written to since it was chosen: browsers read it no more, and call that a lost connection. */
async function assertUnchanged(file: File): Promise<void> {
  try {
    await file.slice(0, 1).arrayBuffer()
  } catch {
    throw new ApiProblem(CONFLICT, { detail: words.file.changed(file.name) })
  }
}

async function answerOf(response: Response): Promise<Import> {
  const answer: unknown = await response.json().catch(() => undefined)
  if (!response.ok) throw problemOf(response, answer)
  return answer as Import
}

function posted(address: string, body: FormData, tell: (sent: number) => void, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open("POST", addressed(address))
    request.setRequestHeader("Prefer", "respond-async")
    request.upload.onprogress = ({ loaded }) => tell(loaded)
    request.onload = () => {
      const retryAfter = request.getResponseHeader("retry-after")
      const headers: HeadersInit = retryAfter ? { "retry-after": retryAfter } : {}
      resolve(new Response(request.responseText, { status: request.status, headers }))
    }
    request.onerror = () => reject(new ApiProblem(UNREACHABLE, { code: "unreachable" }))
    request.onabort = () => reject(signal.reason)
    signal.addEventListener("abort", () => request.abort())
    request.send(body)
  })
}

function formOf(file: File, mapping: AnyMapping | undefined): FormData {
  const form = new FormData()
  if (mapping) form.append("mapping", JSON.stringify(mapping))
  form.append("file", file)
  return form
}

/** Have a planned import applied, if its plan is the one that was seen. */
export function apply({ id, plan_hash: expect }: Import): Promise<Import> {
  const params = { path: { import_id: id }, header: { Prefer: "respond-async" } }
  return api.post("/api/v1/imports/{import_id}/apply", { params, body: { expect, on_change: "refuse" } })
}

export function cancel(id: string): Promise<Import> {
  return api.post("/api/v1/imports/{import_id}/cancel", { params: { path: { import_id: id } } })
}

export function saveMapping(name: string, mapping: Mapping) {
  return api.post("/api/v1/imports/mappings", { body: { name, mapping } })
}

export function removeMapping(id: string, etag: string) {
  const params = { path: { mapping_id: id }, header: { "If-Match": etag } }
  return api.delete("/api/v1/imports/mappings/{mapping_id}", { params })
}

/** Return what an import does, row by row. */
export function readRows(id: string, query: Record<string, unknown>, signal: AbortSignal) {
  const params = { path: { import_id: id }, query: query as never }
  // The same address gives a CSV file when that is asked for.
  return api.get("/api/v1/imports/{import_id}/rows", { params, signal }) as Promise<Schemas["Page_ImportRow_"]>
}

/** Return the address of the refused rows of an import as a file. */
export const refusedRowsOf = (id: string): string => addressed(`${IMPORTS}/${id}/rows?format=csv`)
