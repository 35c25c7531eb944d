import { nameOfField } from "../items/fields"
import { type Kind, REQUIREMENTS, TEST_CASES } from "../items/kinds"
import { m } from "../messages"
import { IGNORE, type Part, REST, type Target } from "./mapping"

const words = m.exchange.sheet

const OURS: [RegExp, string][] = [
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

/** Return what a target is called; `isOneOfSeveral` where rows of a sheet become more than one kind. */
export function targetName(target: Target, isOneOfSeveral: boolean): string {
  if (target === REST) return words.rest
  if (target === IGNORE) return words.ignore
  const [role = "", field = ""] = target.split("/")
  const name = fieldName(role, field)
  return isOneOfSeveral ? words.ofBoth(words.ofRole[role] ?? role, name) : name
}

function fieldName(role: string, field: string): string {
  if (role === "matrix") return words.ofMatrix[field] ?? field
  const [group, part = ""] = field.split(".")
  if (group === "links") return words.linkTo[part as keyof typeof words.linkTo]
  if (group === "steps") return words.steps[part as keyof typeof words.steps]
  return (m.items.fields as Record<string, string>)[field] ?? words.ofLinks[field] ?? nameOfField(field)
}
