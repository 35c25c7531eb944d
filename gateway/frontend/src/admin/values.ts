import { capitalised, m } from "../messages"
import { texts } from "./words"

const names: Record<string, string> = { ...m.items.fields, ...texts.audit.fields }

/** Return how a field is called; one that nobody has named, by its own name in words. */
export function nameOf(field: string): string {
  const words = field.replaceAll("_", " ")
  return names[field] ?? capitalised(words)
}

/** Return a value of the audit log as a text to read and compare, one line a member. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ""
  if (typeof value === "boolean") return value ? texts.audit.yes : texts.audit.no
  if (Array.isArray(value)) return value.map(textOf).join(", ")
  if (typeof value !== "object") return String(value)
  return Object.entries(value)
    .map(([key, one]) => `${/^\d+$/.test(key) ? `${key}.` : `${key}:`} ${textOf(one)}`)
    .join("\n")
}
