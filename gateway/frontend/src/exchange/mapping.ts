/** A column by its header, or by its position from 1. */
type At = string | number
type FieldRule = {
  column?: At
  columns?: At[]
  columns_named?: string
  constant?: string
  values?: Record<string, string>
  split?: string
  default_from?: string
  make?: Make
}
type StepsRule = {
  style: string
  action: At | At[]
  data?: At
  expected?: At
  number?: At
  continues_when_blank?: At
}
export type Rule = FieldRule & Partial<StepsRule>
/** A field of the project that is made of a column. */
export type Make = { name: string; kind: string; choices?: string[] }
/** A field that the project has, and which items. */
export type OfProject = { key: string; name: string; of: string[] }
export type Role = "requirements" | "test_cases" | "links" | "matrix"
type Matrix = { down: "requirements" | "test_cases"; keys: At; across: At[]; link_type?: string }

/** One of the ways in which a sheet is read: what its rows are, and what becomes of its columns. */
export type Part = {
  sheet?: string | null
  role: Role | "ignore" | "auto"
  header_row?: number
  fields?: Record<string, Rule>
  links?: { requirements?: Rule; test_cases?: Rule; link_type?: string } | null
  rest?: "custom_metadata" | "ignore"
  ignore?: At[]
  matrix?: Matrix | null
  types?: { column: At; roles: Record<string, string> } | null
  [other: string]: unknown
}

/** How a file is read, sheet by sheet, as the API takes it: see `POST /imports/mappings`. */
export type Mapping = { version: 2; sheets: Part[]; [other: string]: unknown }
/** A mapping of one sheet alone, as some have saved it. */
type OfOneSheet = { version: 1; kind: Role; sheet?: string; [other: string]: unknown }
export type AnyMapping = Mapping | OfOneSheet

/** A column of a sheet: its name, and the last row of its header where that has several. */
export type Column = { position: number; name: string; header?: string }

/** What a column becomes: `role/field`, further data of each item, or nothing. */
export type Target = string
export const REST = "(rest)"
export const IGNORE = "(ignore)"

const OWN = ["external_id", "title", "description", "type", "priority", "status", "module", "tags"]
const OF_ITEMS = [...OWN, "source_system", "source_url"]
const OF_TEST_CASES = ["preconditions", "postconditions", "automation_status", "execution_time_minutes", "test_data"]
const STEPS = ["steps.action", "steps.data", "steps.expected", "steps.number"]
const TARGETS: Record<Role, string[]> = {
  requirements: [...OF_ITEMS, "links.test_cases"],
  test_cases: [...OF_ITEMS, ...OF_TEST_CASES, ...STEPS, "links.requirements"],
  links: ["requirement", "test_case", "link_type", "notes", "confidence_score"],
  matrix: ["keys", "across"],
}
/** What each of two is taken from that no column has. */
const TEXTS = [
  ["title", "description"],
  ["description", "title"],
] as const
/** What items have to have, and get where nothing says it. */
const DEFAULTS: Record<string, string> = { type: "functional", priority: "medium" }
const CLOSED = ["type", "priority", "status", "automation_status"] as const
export type Closed = (typeof CLOSED)[number]
/** Of a whole file beside its sheets, in either version. */
const OF_ALL = ["name", "format", "encoding", "delimiter", "key", "external_id_prefix", "source_system", "kinds"]

export const targetOn = (part: Part, field: string): Target => `${part.role}/${field}`

/** Return what a mapping calls a field of the project. */
export const fieldOn = (key: string): string => `field.${key}`

/** Return the first part of a sheet whose rows become items: a field is made for these. */
export const partOfItems = (parts: Part[]): Part | undefined =>
  parts.find(({ role }) => role === "requirements" || role === "test_cases")

/** Return how a sheet is read; several parts of one that has rows of both kinds, or marks beside its items. */
export const partsOf = (mapping: Mapping, sheet: string | null): Part[] =>
  mapping.sheets.filter((part) => (part.sheet ?? null) === sheet && part.role !== "ignore")

/** Return what a sheet is, as one word: its roles, or that it is left out. */
export const roleOf = (parts: Part[]): string => [...new Set(parts.map(({ role }) => role))].join("+") || "ignore"

/** Return a mapping by which a sheet is read in these parts; in none, it is left out. */
export function withParts(mapping: Mapping, sheet: string | null, parts: Part[]): Mapping {
  const here = (part: Part) => (part.sheet ?? null) === sheet
  const first = mapping.sheets.findIndex(here)
  const others = mapping.sheets.filter((part) => !here(part))
  const at = first < 0 ? others.length : mapping.sheets.slice(0, first).filter((part) => !here(part)).length
  const left: Part = { ...(sheet !== null && { sheet }), role: "ignore" }
  const sheets = [...others.slice(0, at), ...(parts.length > 0 ? parts : [left]), ...others.slice(at)]
  return withFittingKey({ ...mapping, sheets })
}

/** Return a mapping without the fields that items are known by where no sheet has them any more. */
function withFittingKey(mapping: Mapping): Mapping {
  const { key, ...others } = mapping
  if (!Array.isArray(key)) return mapping
  const fields = new Set(mapping.sheets.flatMap((part) => Object.keys(part.fields ?? {})))
  return key.every((name) => fields.has(name)) ? mapping : { ...others, version: 2, sheets: mapping.sheets }
}

/** Return a mapping of one sheet as one of a whole file of which it reads no other. */
export function asWhole(mapping: AnyMapping, sheet: string | null): Mapping {
  if (mapping.version === 2) return mapping as Mapping
  const { version: _, kind, sheet: named = sheet, ...rules } = mapping as OfOneSheet
  const ofAll = Object.fromEntries(Object.entries(rules).filter(([name]) => OF_ALL.includes(name)))
  const ofSheet = Object.fromEntries(Object.entries(rules).filter(([name]) => !OF_ALL.includes(name)))
  const part: Part = { ...(named !== null && { sheet: named }), role: kind, ...ofSheet }
  return { ...ofAll, version: 2, sheets: [part] }
}

/** Return what columns of a sheet can become; of what its parts have beyond that, too. */
export function targetsOf(parts: Part[], fields: OfProject[] = []): Target[] {
  const named = parts.flatMap((part) => {
    const used = Object.keys(part.fields ?? {}).filter((field) => field !== "steps")
    const own = fields.filter(({ of }) => of.some((kind) => `${kind}s` === part.role)).map(({ key }) => fieldOn(key))
    return [...new Set([...TARGETS[part.role as Role], ...own, ...used])].map((field) => targetOn(part, field))
  })
  return [...named, ...(hasItems(parts) ? [REST] : []), IGNORE]
}

/** Check whether rows of a sheet become items: links and marks have no place for further data. */
const hasItems = (parts: Part[]) => partOfItems(parts) !== undefined

/** Return the closed fields of a part: those that take only some values. */
export function closedOf({ role }: Part): Closed[] {
  if (role !== "requirements" && role !== "test_cases") return []
  return CLOSED.filter((field) => field !== "automation_status" || role === "test_cases")
}

const isColumn = (column: Column) => (at: unknown) =>
  at === column.name || at === column.position || (Boolean(column.header) && at === column.header)

/** Return what a column becomes. */
export function targetOf(parts: Part[], column: Column): Target {
  for (const part of parts) {
    const field = fieldOf(part, column)
    if (field) return targetOn(part, field)
  }
  const isLeftOut = parts.some(({ ignore, rest }) => ignore?.some(isColumn(column)) || rest === "ignore")
  return isLeftOut || !hasItems(parts) ? IGNORE : REST
}

function fieldOf(part: Part, column: Column): string | undefined {
  const is = isColumn(column)
  const uses = (rule: Rule | undefined) =>
    rule !== undefined && (is(rule.column) || rule.columns?.some(is) || (column.name !== "" && is(rule.columns_named)))
  if (part.matrix && is(part.matrix.keys)) return "keys"
  if (part.matrix?.across.some(is)) return "across"
  for (const [field, rule] of Object.entries(part.fields ?? {})) {
    if (field !== "steps" && uses(rule)) return field
    if (field !== "steps") continue
    if ([rule.action].flat().some(is) || isNumbered(rule, column.name)) return "steps.action"
    if (is(rule.data)) return "steps.data"
    if (is(rule.expected)) return "steps.expected"
    if (is(rule.number)) return "steps.number"
  }
  if (uses(part.links?.requirements)) return "links.requirements"
  if (uses(part.links?.test_cases)) return "links.test_cases"
  return undefined
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

/** Return parts in which a column becomes something else. */
export function withTarget(parts: Part[], columns: Column[], column: Column, target: Target, make?: Make): Part[] {
  // A column without a header is called by its letter, which the file does not have.
  const isAlone =
    !/^(column [A-Z]+)?$/.test(column.name) && columns.filter(({ name }) => name === column.name).length === 1
  const at: At = isAlone ? column.name : column.position
  const freed = parts.map((part) => without(part, column))
  const settled = freed.map((part, place) => withRequired(part, parts[place] ?? part))
  if (target === REST) return settled.map((part) => ({ ...part, rest: "custom_metadata" as const }))
  if (target === IGNORE) {
    return settled.map((part) => (part.matrix ? part : { ...part, ignore: [...(part.ignore ?? []), at] }))
  }
  const [role, field = ""] = target.split("/")
  const next = freed.map((part) => (part.role === role ? withField(part, field, at, make) : part))
  return next.map((part, place) => withRequired(part, parts[place] ?? part))
}

/** Return a part with what items have to have: a text of the other, a default for what had a column before. */
function withRequired(part: Part, before: Part): Part {
  if (part.role !== "requirements" && part.role !== "test_cases") return part
  const isThere = (rule: Rule | undefined) =>
    rule !== undefined && Object.keys(rule).some((key) => key !== "default_from")
  const fields = { ...part.fields }
  for (const [name, other] of TEXTS) {
    if (isThere(fields[other]) || !fields[name]?.default_from) continue
    const { default_from: _, ...rule } = fields[name]
    fields[name] = rule
    if (!isThere(rule)) delete fields[name]
  }
  for (const [name, other] of TEXTS) if (isThere(fields[other])) fields[name] ??= { default_from: other }
  for (const [name, constant] of Object.entries(DEFAULTS)) if (before.fields?.[name]) fields[name] ??= { constant }
  return { ...part, fields }
}

function withField(part: Part, field: string, at: At, make: Make | undefined): Part {
  if (part.matrix && field === "keys") return { ...part, matrix: { ...part.matrix, keys: at } }
  if (part.matrix && field === "across") {
    return { ...part, matrix: { ...part.matrix, across: [...part.matrix.across, at] } }
  }
  const [group, inner] = field.split(".") as [string, string | undefined]
  if (group === "links" && inner) {
    return { ...part, links: { link_type: "covers", ...part.links, [inner]: { column: at } } }
  }
  const fields = part.fields ?? {}
  if (group === "steps" && inner) {
    const steps = fields.steps ?? { style: "cell", action: at }
    return { ...part, fields: { ...fields, steps: { ...steps, [inner]: at } } }
  }
  const rule: Rule = { column: at, ...(field === "tags" && { split: "," }), ...(make && { make }) }
  return { ...part, fields: { ...fields, [field]: rule } }
}

function without(part: Part, column: Column): Part {
  const is = isColumn(column)
  const isOther = (at: At) => !is(at)
  const field = fieldOf(part, column)
  const ignore = part.ignore?.filter(isOther)
  const next = ignore?.length === part.ignore?.length ? part : { ...part, ignore }
  if (field === undefined || field === "keys") return next
  if (part.matrix && field === "across") {
    return { ...next, matrix: { ...part.matrix, across: part.matrix.across.filter(isOther) } }
  }
  const [group, inner] = field.split(".") as [string, string | undefined]
  if (group === "links" && inner) return { ...next, links: { ...next.links, [inner]: undefined } }
  const name = group === "steps" ? group : field
  const { [name]: rule, ...fields } = next.fields ?? {}
  if (group === "steps" && inner && inner !== "action") {
    return { ...next, fields: { ...fields, steps: { ...rule, [inner]: undefined } } }
  }
  const columns = rule?.columns?.filter(isOther) ?? []
  return { ...next, fields: columns.length > 0 ? { ...fields, [name]: { ...rule, columns } } : fields }
}

/** Return a part with another value for what a column says in a closed field; undefined leaves it as it is. */
export function withValue(part: Part, field: Closed, said: string, value: string | undefined): Part {
  const { [said]: _, ...values } = part.fields?.[field]?.values ?? {}
  const next = value === undefined ? values : { ...values, [said]: value }
  return { ...part, fields: { ...part.fields, [field]: { ...part.fields?.[field], values: next } } }
}

/** Return a part with one value of a field for every row; undefined says nothing of it. */
export function withConstant(part: Part, field: Closed, value: string | undefined): Part {
  const { [field]: _, ...fields } = part.fields ?? {}
  return { ...part, fields: value === undefined ? fields : { ...fields, [field]: { constant: value } } }
}

/** Return parts of which each reads what rows of a type become. */
export const withType = (parts: Part[], type: string, role: string): Part[] =>
  parts.map((part) =>
    part.types ? { ...part, types: { ...part.types, roles: { ...part.types.roles, [type]: role } } } : part,
  )

/** What was set by hand and does not fit any more: a column or a value, and what it was to become. */
export type Lost = { said: string; target: Target }

type Proposed = { parts: Part[]; columns: Column[] }

/** Return a proposal with what parts have by hand, beyond the proposal that they were made of; and what does not fit. */
export function carriedOver(
  parts: Part[],
  from: Proposed,
  to: Proposed,
  fields: OfProject[] = [],
): { parts: Part[]; lost: Lost[] } {
  let next = to.parts
  const lost: Lost[] = []
  for (const column of from.columns) {
    const target = targetOf(parts, column)
    if (target === targetOf(from.parts, column)) continue
    const there = to.columns.find(({ name }) => name === column.name)
    const make = makeOf(parts, target)
    const items = make && partOfItems(next)
    const targets = [...targetsOf(next, fields), ...(items ? [targetOn(items, fieldIn(target))] : [])]
    const fitting = targets.find((one) => one === target || fieldIn(one) === fieldIn(target))
    if (there && fitting) next = withTarget(next, to.columns, there, fitting, make)
    else lost.push({ said: column.name, target })
  }
  for (const part of parts) {
    const before = from.parts.find(({ role }) => role === part.role)
    for (const field of closedOf(part)) next = withClosed(next, part, field, before?.fields?.[field], lost)
  }
  return { parts: next, lost }
}

/** Return the field that is made of a target, if one is. */
export function makeOf(parts: Part[], target: Target): Make | undefined {
  const [role, field = ""] = target.split("/")
  return parts.find((part) => part.role === role)?.fields?.[field]?.make
}

/** Return what a target becomes, whatever the rows of its sheet are. */
const fieldIn = (target: Target): string => target.split("/").at(-1) ?? target

function withClosed(next: Part[], part: Part, field: Closed, before: Rule | undefined, lost: Lost[]): Part[] {
  const { values = {}, constant } = part.fields?.[field] ?? {}
  let changed = next
  const place = Math.max(
    0,
    next.findIndex(({ role }) => role === part.role),
  )
  const put = (made: Part) => {
    changed = changed.map((one, at) => (at === place ? made : one))
  }
  const here = () => changed[place]
  for (const [said, value] of Object.entries(values)) {
    if (before?.values?.[said] === value) continue
    const there = here()
    if (there && closedOf(there).includes(field) && there.fields?.[field]?.column !== undefined) {
      put(withValue(there, field, said, value))
    } else lost.push({ said, target: targetOn(part, field) })
  }
  if (constant === undefined || constant === before?.constant) return changed
  const there = here()
  const rule = there?.fields?.[field]
  const isFree = rule === undefined || rule.constant !== undefined
  if (there && closedOf(there).includes(field) && isFree) put(withConstant(there, field, constant))
  else lost.push({ said: constant, target: targetOn(part, field) })
  return changed
}
