/** A column by its header, or by its position from 1. */
type At = string | number
type FieldRule = {
  column?: At
  columns?: At[]
  columns_named?: string
  constant?: string
  values?: Record<string, string>
  split?: string
}
type StepsRule = { style: string; action: At | At[]; data?: At; expected?: At; continues_when_blank?: At }
export type Rule = FieldRule & Partial<StepsRule>

/** How a table is read, as the API takes it: see `POST /imports/mappings`. */
export type Mapping = {
  version: 1
  kind: "requirements" | "test_cases" | "links"
  fields: Record<string, Rule>
  links?: { requirements?: Rule; test_cases?: Rule; link_type?: string } | null
  rest?: "custom_metadata" | "ignore"
  ignore?: At[]
  [other: string]: unknown
}
/** A column of a file as POST /imports/inspect describes it. */
export type Column = {
  position: number
  name: string
  samples: string[]
  blanks: number
  confidence: number | null
  reason: string | null
}

/** What a column becomes: a field, a part of the steps, links, further data, or nothing. */
export type Target = string
export const REST = "(rest)"
export const IGNORE = "(ignore)"

const OWN = ["external_id", "title", "description", "type", "priority", "status", "module", "tags"]
const OF_ITEMS = [...OWN, "source_system", "source_url"]
const OF_TEST_CASES = ["preconditions", "postconditions", "automation_status", "execution_time_minutes", "test_data"]
const STEPS = ["steps.action", "steps.data", "steps.expected"]
const TARGETS: Record<Mapping["kind"], string[]> = {
  requirements: [...OF_ITEMS, "links.test_cases"],
  test_cases: [...OF_ITEMS, ...OF_TEST_CASES, ...STEPS, "links.requirements"],
  links: ["requirement", "test_case", "link_type", "notes", "confidence_score"],
}
const CLOSED = ["type", "priority", "status", "automation_status"] as const
export type Closed = (typeof CLOSED)[number]

/** Return what columns of a kind can become; of what the mapping has beyond that, too. */
export function targetsOf(mapping: Mapping): Target[] {
  const used = Object.keys(mapping.fields).filter((field) => field !== "steps")
  return [...new Set([...TARGETS[mapping.kind], ...used]), REST, IGNORE]
}

/** Return the closed fields of a kind: those that take only some values. */
export function closedOf(mapping: Mapping): Closed[] {
  if (mapping.kind === "links") return []
  return CLOSED.filter((field) => field !== "automation_status" || mapping.kind === "test_cases")
}

/** Return what a column becomes. */
export function targetOf(mapping: Mapping, column: Column): Target {
  const is = (at: unknown) => at === column.name || at === column.position
  const uses = (rule: Rule | undefined) =>
    rule !== undefined && (is(rule.column) || rule.columns?.some(is) || (column.name !== "" && is(rule.columns_named)))
  for (const [field, rule] of Object.entries(mapping.fields)) {
    if (field !== "steps" && uses(rule)) return field
    if (field !== "steps") continue
    if ([rule.action].flat().some(is) || isNumbered(rule, column.name)) return "steps.action"
    if (is(rule.data)) return "steps.data"
    if (is(rule.expected)) return "steps.expected"
  }
  if (uses(mapping.links?.requirements)) return "links.requirements"
  if (uses(mapping.links?.test_cases)) return "links.test_cases"
  return mapping.ignore?.some(is) || mapping.rest === "ignore" ? IGNORE : REST
}

/** Check whether a column is one of those with a step each, which a rule names as in "Step {n}". */
function isNumbered({ action }: Rule, name: string): boolean {
  if (typeof action !== "string" || !action.includes("{n}")) return false
  const [before = "", after = ""] = action.split("{n}")
  return (
    name.startsWith(before) &&
    name.endsWith(after) &&
    /^\d+$/.test(name.slice(before.length, -after.length || undefined))
  )
}

/** Return a mapping in which a column becomes something else. */
export function withTarget(mapping: Mapping, columns: Column[], column: Column, target: Target): Mapping {
  // A column without a header is called by its letter, which the file does not have.
  const isAlone =
    !/^(column [A-Z]+)?$/.test(column.name) && columns.filter(({ name }) => name === column.name).length === 1
  const at: At = isAlone ? column.name : column.position
  const next = without(mapping, column)
  if (target === REST) return { ...next, rest: "custom_metadata" }
  if (target === IGNORE) return { ...next, ignore: [...(next.ignore ?? []), at] }
  const [group, part] = target.split(".") as [string, string | undefined]
  if (group === "links" && part) return { ...next, links: { ...next.links, [part]: { column: at } } }
  if (group === "steps" && part) {
    const steps = next.fields.steps ?? { style: "cell", action: at }
    return { ...next, fields: { ...next.fields, steps: { ...steps, [part]: at } } }
  }
  return { ...next, fields: { ...next.fields, [target]: { column: at, ...(target === "tags" && { split: "," }) } } }
}

/** What was set by hand and does not fit any more: a column or a value, and what it was to become. */
export type Lost = { said: string; target: Target }

type Proposed = { mapping: Mapping; columns: Column[] }

/** Return a proposal with what a mapping has by hand, beyond the proposal that it was made of; and what does not fit. */
export function carriedOver(
  mapping: Mapping,
  from: Proposed,
  to: Proposed,
): { mapping: Mapping; lost: Lost[]; isOwn: boolean } {
  let next = to.mapping
  const lost: Lost[] = []
  for (const column of from.columns) {
    const target = targetOf(mapping, column)
    if (target === targetOf(from.mapping, column)) continue
    const there = to.columns.find(({ name }) => name === column.name)
    if (there && targetsOf(next).includes(target)) next = withTarget(next, to.columns, there, target)
    else lost.push({ said: column.name, target })
  }
  for (const field of closedOf(mapping)) {
    const { values = {}, constant } = mapping.fields[field] ?? {}
    const before = from.mapping.fields[field]
    const rule = next.fields[field]
    for (const [said, value] of Object.entries(values)) {
      if (before?.values?.[said] === value) continue
      if (closedOf(next).includes(field) && rule?.column !== undefined) next = withValue(next, field, said, value)
      else lost.push({ said, target: field })
    }
    if (constant === undefined || constant === before?.constant) continue
    const isFree = rule === undefined || rule.constant !== undefined
    if (closedOf(next).includes(field) && isFree) next = withConstant(next, field, constant)
    else lost.push({ said: constant, target: field })
  }
  return { mapping: next, lost, isOwn: next !== to.mapping }
}

function without(mapping: Mapping, column: Column): Mapping {
  const target = targetOf(mapping, column)
  const isOther = (at: At) => at !== column.name && at !== column.position
  if (target === IGNORE) return { ...mapping, ignore: mapping.ignore?.filter(isOther) ?? [] }
  if (target === REST) return mapping
  const [group, part] = target.split(".") as [string, string | undefined]
  if (group === "links" && part) return { ...mapping, links: { ...mapping.links, [part]: undefined } }
  const { [group]: rule, ...fields } = mapping.fields
  if (group === "steps" && part && part !== "action") {
    return { ...mapping, fields: { ...fields, steps: { ...rule, [part]: undefined } } }
  }
  const columns = rule?.columns?.filter(isOther) ?? []
  return { ...mapping, fields: columns.length > 0 ? { ...fields, [group]: { ...rule, columns } } : fields }
}

/** Return a mapping with another value for what a column says in a closed field; undefined leaves it as it is. */
export function withValue(mapping: Mapping, field: Closed, said: string, value: string | undefined): Mapping {
  const { [said]: _, ...values } = mapping.fields[field]?.values ?? {}
  const next = value === undefined ? values : { ...values, [said]: value }
  return { ...mapping, fields: { ...mapping.fields, [field]: { ...mapping.fields[field], values: next } } }
}

/** Return a mapping with one value of a field for every row; undefined says nothing of it. */
export function withConstant(mapping: Mapping, field: Closed, value: string | undefined): Mapping {
  const { [field]: _, ...fields } = mapping.fields
  return { ...mapping, fields: value === undefined ? fields : { ...fields, [field]: { constant: value } } }
}
