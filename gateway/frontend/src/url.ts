import { useMemo } from "react"
import * as v from "valibot"
import { useLocation, useSearch } from "wouter"

type Fields = Record<string, v.GenericSchema<string | undefined, unknown>>
type Parsed<T extends Fields> = { [name in keyof T]: v.InferOutput<T[name]> }
type Change<T extends Fields> = { [name in keyof T]?: string | undefined }

/**
 * Return what the query of the address says, each member by its schema, and a function that changes members of it.
 *
 * A value that its schema refuses counts as left out. Setting undefined or "" removes a member; what the schemas do not
 * name stays. A change is a step that "back" takes again unless it says `replace`.
 */
export function useUrl<T extends Fields>(
  fields: T,
): [Parsed<T>, (change: Change<T>, options?: { replace?: boolean }) => void] {
  const search = useSearch()
  const [path, go] = useLocation()
  const parsed = useMemo(() => parseQuery(search, fields), [search, fields])
  return [
    parsed,
    (change, options) => {
      const query = changed(location.search, change)
      if (`?${query}` !== location.search && (query || location.search)) go(query ? `${path}?${query}` : path, options)
    },
  ]
}

/** Return the members of a query by their schemas. */
export function parseQuery<T extends Fields>(search: string, fields: T): Parsed<T> {
  const query = new URLSearchParams(search)
  const entries = Object.entries(fields).map(([name, schema]) => {
    const result = v.safeParse(schema, query.get(name) ?? undefined)
    return [name, result.success ? result.output : v.getDefault(schema as never)]
  })
  return Object.fromEntries(entries)
}

/** Return a query with some members changed, in the shortest form that stays readable. */
export function changed(search: string, change: Record<string, string | undefined>): string {
  const query = new URLSearchParams(search)
  for (const [name, value] of Object.entries(change)) {
    if (value) query.set(name, value)
    else query.delete(name)
  }
  return query.toString().replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%21", "!")
}

/** One value of a filter, and whether it is excluded; "" stands for those that have none. */
export type Alternative = { value: string; not: boolean }

const VALUE = /\s*(!?)\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(?:,|$)/y
const NEEDS_QUOTES = /^$|,|^[\s!"]|[\s"]$/

/** Read a filter as the API writes it: comma-separated alternatives, `!` excludes, quotes where they are needed. */
export function parseAlternatives(text: string | undefined): Alternative[] {
  const found = new Map<string, Alternative>()
  let at = 0
  while (text && at < text.length) {
    VALUE.lastIndex = at
    const match = VALUE.exec(text)
    if (!match || VALUE.lastIndex === at) break
    at = VALUE.lastIndex
    const value = match[2]?.replaceAll('""', '"') ?? match[3]?.trimEnd() ?? ""
    if (match[2] !== undefined || value) found.set(value, { value, not: match[1] === "!" })
  }
  return [...found.values()]
}

/** Write a filter as the API reads it; undefined when nothing is asked for. */
export function writeAlternatives(alternatives: Alternative[]): string | undefined {
  const words = alternatives.map(({ value, not }) => {
    const text = NEEDS_QUOTES.test(value) ? `"${value.replaceAll('"', '""')}"` : value
    return not ? `!${text}` : text
  })
  return words.length > 0 ? words.join(",") : undefined
}
