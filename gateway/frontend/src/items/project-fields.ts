import { queryOptions, useQuery } from "@tanstack/react-query"
import { api } from "../api/client"
import type { components } from "../api/schema"
import { m } from "../messages"
import type { Item, Kind } from "./kinds"

export type ProjectField = Required<components["schemas"]["ProjectField"]>
export type Data = Item["custom_metadata"]

/** What fields are called, as far as they have been read. */
const names = new Map<string, string>()
const NO_FIELDS: ProjectField[] = []
/** What stands before the key of a field where it is named beside the fields of all. */
export const PREFIX = "field."
/** Kinds whose values come again, so that a list can be narrowed by choosing some of them. */
const CHOSEN = new Set(["choice", "choices", "person", "yes_no"])

/** The fields that the items of the project have beside those of all. */
export const projectFields = queryOptions({
  queryKey: ["fields"],
  queryFn: async ({ signal }) => {
    const { fields } = await api.get("/api/v1/fields", { signal })
    for (const { key, name } of fields) names.set(key, name)
    return fields as ProjectField[]
  },
  staleTime: 60_000,
})

/** Return the fields that items of a kind have; none until they are known. */
export function useProjectFields(kind: Kind): ProjectField[] {
  const { data } = useQuery({ ...projectFields, select: (all) => all.filter(({ of }) => of.includes(kind.name)) })
  return data ?? NO_FIELDS
}

/** Return how a field of the project is called, by its key. */
export const nameOfOwn = (key: string): string => names.get(key) ?? key

/** Return the fields by whose values a list can be narrowed. */
export const chosenBy = (fields: ProjectField[]) => fields.filter(({ kind }) => CHOSEN.has(kind))

/** Return the values of fields that further data of an item has, by key. */
export function valuesOf(data: Data | undefined): Record<string, unknown> {
  const values = data?.fields
  return typeof values === "object" && values !== null && !Array.isArray(values)
    ? (values as Record<string, unknown>)
    : {}
}

/** Return further data without the values of these fields; null for nothing. */
export function dataBeside(fields: ProjectField[], data: Data | undefined): Data {
  if (!data || fields.length === 0) return data ?? null
  const keys = new Set(fields.map(({ key }) => key))
  const left = Object.entries(valuesOf(data)).filter(([key]) => !keys.has(key))
  const { fields: _, ...others } = data
  const rest = left.length > 0 ? { ...others, fields: Object.fromEntries(left) } : others
  return Object.keys(rest).length > 0 ? rest : null
}

/** Return further data with the values of fields, as a form has them. */
export function dataWith(fields: ProjectField[], data: unknown, said: (key: string) => string): Data {
  const rest = (data ?? {}) as Record<string, unknown>
  const own = fields.flatMap((field) => {
    const value = valueIn(field, said(field.key))
    return value === null ? [] : [[field.key, value]]
  })
  const values = { ...valuesOf(rest), ...Object.fromEntries(own) }
  if (Object.keys(values).length === 0) return Object.keys(rest).length > 0 ? rest : null
  return { ...rest, fields: values }
}

/** Return a value as the text that a form has. */
export function textOfValue(value: unknown): string {
  if (value === null || value === undefined) return ""
  if (Array.isArray(value)) return JSON.stringify(value)
  return String(value)
}

/** Return the value that a form's text says, null for none; what its field cannot have the API refuses. */
export function valueIn({ kind }: ProjectField, text: string): unknown {
  const said = text.trim()
  if (!said) return null
  if (kind === "number") return Number.isNaN(Number(said.replace(",", "."))) ? said : Number(said.replace(",", "."))
  if (kind === "yes_no") return said === "true" ? true : said === "false" ? false : said
  if (kind === "choices") {
    const chosen: unknown = JSON.parse(said)
    return Array.isArray(chosen) && chosen.length > 0 ? chosen : null
  }
  return kind === "text" ? text : said
}

/** Return a value as people read it. */
export function shownValue(value: unknown): string {
  if (value === null || value === undefined) return ""
  if (typeof value === "boolean") return value ? m.fields.yes : m.fields.no
  return Array.isArray(value) ? value.join(", ") : typeof value === "object" ? JSON.stringify(value) : String(value)
}

/** Return a value as a filter or a facet writes it, as people read it. */
export const shownAlternative = ({ kind }: ProjectField, value: string): string =>
  kind === "yes_no" ? (value === "true" || value === "yes" ? m.fields.yes : m.fields.no) : value
