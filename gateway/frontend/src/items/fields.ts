import type { Change } from "../kit/changes"
import { m } from "../messages"
import { AUTOMATION, type Item, type Kind, PRIORITIES, word } from "./kinds"
import type { Field } from "./merge"
import { type Data, nameOfOwn, PREFIX, shownValue, valuesOf } from "./project-fields"

const CLOSED = new Set<Field>(["status", "priority", "type", "automation_status"])

/** Return a value of a field as a text for people to read and compare. */
export function textOf(field: Field, value: unknown): string {
  if (value === null || value === undefined) return ""
  if (field === "custom_metadata" && typeof value === "object") return dataText(value as Data)
  if (field === "steps")
    return stepsOf(value as Item["steps"])
      .map((text, place) => `${place + 1}. ${text}`)
      .join("\n")
  if (Array.isArray(value)) return value.join(", ")
  if (typeof value === "object") return JSON.stringify(value, undefined, 2)
  return CLOSED.has(field) ? word(String(value)) : String(value)
}

/** Return further data as a text: the values of fields a line each, and JSON of the rest. */
function dataText(data: Data): string {
  const { fields: _, ...rest } = data ?? {}
  const values = Object.entries(valuesOf(data))
  const isPlain = values.length > 0
  const lines = values.map(([key, value]) => `${nameOfOwn(key)}: ${shownValue(value)}`)
  const others = isPlain ? rest : (data ?? {})
  return [...lines, ...(Object.keys(others).length > 0 ? [JSON.stringify(others, undefined, 2)] : [])].join("\n")
}

/** Return how a field is called; one that nobody has named, by its own name. */
export const nameOfField = (field: string): string =>
  field.startsWith(PREFIX)
    ? nameOfOwn(field.slice(PREFIX.length))
    : ((m.items.fields as Record<string, string>)[field] ?? field)

/** Return the texts of steps in their order. */
export function stepsOf(steps: Item["steps"]): string[] {
  const entries = Object.entries(steps ?? {}).sort(([one], [other]) => Number(one) - Number(other))
  return entries.map(([, text]) => text)
}

/** Return steps as the API has them, numbered from 1; null for none. */
export function numbered(texts: string[]): Item["steps"] {
  const said = texts.filter((text) => text.trim())
  return said.length > 0 ? Object.fromEntries(said.map((text, place) => [String(place + 1), text])) : null
}

/** Return the tags that a text with commas between them names, each once. */
export function tagsOf(text: string): string[] {
  return [...new Set(text.split(",").map((tag) => tag.trim()))].filter(Boolean)
}

/** Return the values of a closed field of a kind, as a choice has them. */
export function optionsOf(kind: Kind, field: "status" | "priority" | "type" | "automation_status") {
  const values = { status: kind.statuses, priority: PRIORITIES, type: kind.types, automation_status: AUTOMATION }[field]
  return values.map((value) => ({ value, label: word(value) }))
}

/** Return an address that a person can be led to; undefined for a text that is none, or leads elsewhere than the web. */
export function safeAddress(text: string | null): string | undefined {
  if (!text || !URL.canParse(text)) return undefined
  const address = new URL(text)
  return ["http:", "https:", "mailto:"].includes(address.protocol) ? address.href : undefined
}

/** Return how an item is called where there is little room. */
export const nameOf = ({ external_id, title }: Pick<Item, "external_id" | "title">): string => external_id ?? title

/** Return what changed in a field, for people to read. */
export function changeOf(field: string, before: unknown, after: unknown): Change {
  return {
    field,
    name: nameOfField(field),
    diff: { before: textOf(field as Field, before), after: textOf(field as Field, after) },
  }
}
