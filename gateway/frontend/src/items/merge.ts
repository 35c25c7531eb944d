import type { Patch } from "./api"
import type { Item } from "./kinds"

export type Field = Exclude<keyof Item, "id">
export type Edits = Partial<Omit<Item, "id">>

/** Return the merge patch (RFC 7396) that makes `after` of `before`, both objects or null. */
export function mergePatch(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after)) return after
  const gone = Object.keys(before).filter((name) => !(name in after))
  const changed = Object.keys(after).filter((name) => !same(before[name], after[name]))
  return Object.fromEntries([
    ...gone.map((name) => [name, null]),
    ...changed.map((name) => [name, mergePatch(before[name], after[name])]),
  ])
}

/** Return the edits that make a difference: who sends a whole form has not touched every field of it. */
export function touched(item: Partial<Item>, edits: Edits): Edits {
  return Object.fromEntries(
    fieldsOf(edits).flatMap((field) => (same(item[field], edits[field]) ? [] : [[field, edits[field]]])),
  )
}

/** Return what has to be sent so that `item` says what `edits` say; nothing where it does. */
export function patchOf(item: Partial<Item>, edits: Edits): Patch {
  const mine = touched(item, edits)
  return Object.fromEntries(fieldsOf(mine).map((field) => [field, mergePatch(item[field], mine[field])]))
}

/** What two people did to the same item: which fields both changed in different ways, and which only the other. */
export type Comparison = { clashing: Field[]; others: Field[] }

/** Compare what somebody edited, from what he had read, with what is there now. */
export function compare(base: Partial<Item>, edits: Edits, theirs: Item): Comparison {
  const mine = fieldsOf(touched(base, edits))
  const theirFields = fieldsOf(base).filter((field) => !OF_THE_SERVICE.has(field) && !same(base[field], theirs[field]))
  return {
    clashing: mine.filter((field) => theirFields.includes(field) && !same(edits[field], theirs[field])),
    others: theirFields.filter((field) => !mine.includes(field)),
  }
}

/** Return the edits that are left when for some fields the value of the other person is taken. */
export function without(edits: Edits, taken: ReadonlySet<Field>): Edits {
  return Object.fromEntries(fieldsOf(edits).flatMap((field) => (taken.has(field) ? [] : [[field, edits[field]]])))
}

const OF_THE_SERVICE = new Set<string>(["id", "version", "created_at", "updated_at", "etag", "coverage"])

/** Check whether two values of JSON are the same, whatever the order of their members; none is the same as empty. */
export function same(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other)
}

function canonical(value: unknown): string {
  if (value === undefined || value === "") return "null"
  return JSON.stringify(value, (_, inner) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort()) : inner,
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

const fieldsOf = (of: Partial<Item>): Field[] => Object.keys(of) as Field[]
