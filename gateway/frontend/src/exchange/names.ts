import { nameOfField } from "../items/fields"
import { type Kind, REQUIREMENTS, TEST_CASES } from "../items/kinds"
import { m } from "../messages"
import { fieldOn, IGNORE, type OfProject, type Part, REST, type Target } from "./mapping"
import { words as exchange } from "./words"

const words = exchange.sheet

const OURS: [RegExp, string][] = [
  [/\bassign_external_id\b/g, words.optionOfIds],
  [/\bcustom_metadata(\.[\w.]*\w)?/g, words.furtherData],
  [/\bexternal_id\b/g, words.idWord],
]

/** Return a sentence of the API without the names that only the API has. */
export const plainly = (sentence: string): string =>
  OURS.reduce((said, [name, word]) => said.replaceAll(name, word), sentence)

/** Return the kind of items that rows of a part become, unless they are links. */
export const kindOf = ({ role }: Part): Kind | undefined =>
  ({ requirements: REQUIREMENTS, test_cases: TEST_CASES })[role as string]

/** Return what a sheet is, in words: that of each of its roles. */
export const roleName = (role: string): string =>
  role
    .split("+")
    .map((one, place) => (place > 0 ? (words.roles[one] ?? one).toLowerCase() : (words.roles[one] ?? one)))
    .join(words.and)

/** What fields of the project are called, by what a mapping calls them. */
export type FieldNames = ReadonlyMap<string, string>
const NONE: FieldNames = new Map()

/** Return the names of the fields that a project has, and of those that parts of a sheet make. */
export function namesOf(fields: OfProject[], parts: Part[]): FieldNames {
  const made = parts.flatMap((part) =>
    Object.entries(part.fields ?? {}).flatMap(([field, { make }]) =>
      make ? [[field, words.newField(make.name)]] : [],
    ),
  )
  return new Map([...fields.map(({ key, name }) => [fieldOn(key), name]), ...made] as [string, string][])
}

/** Return what a target is called; `isOneOfSeveral` where rows of a sheet become more than one kind. */
export function targetName(target: Target, isOneOfSeveral: boolean, fields: FieldNames = NONE): string {
  if (target === REST) return words.rest
  if (target === IGNORE) return words.ignore
  const [role = "", field = ""] = target.split("/")
  const name = fieldName(role, field, fields)
  return isOneOfSeveral ? words.ofBoth(words.ofRole[role] ?? role, name) : name
}

function fieldName(role: string, field: string, fields: FieldNames): string {
  const own = fields.get(field)
  if (own !== undefined) return own
  if (role === "matrix") return words.ofMatrix[field] ?? field
  const [group, part = ""] = field.split(".")
  if (group === "links") return words.linkTo[part as keyof typeof words.linkTo]
  if (group === "steps") return words.steps[part as keyof typeof words.steps]
  return (m.items.fields as Record<string, string>)[field] ?? words.ofLinks[field] ?? nameOfField(field)
}
