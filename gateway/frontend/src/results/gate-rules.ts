import { parseAlternatives } from "../url"

type Written = { rule: string; limit?: number | boolean | null; where?: object }
/** A rule; `where` has filters as the list of requirements takes them. */
export type Rule = { rule: string; limit?: number; where: Record<string, string> }

const PART = /(?:"[^"]*"|\S)+/g
const NEEDS_QUOTES = /^$|[\s,"!]/

/** Write rules as people change them: one a line, a name, a limit, and which requirements they are about. */
export function writeRules(rules: readonly Written[]): string {
  return rules
    .map(({ rule, limit, where = {} }) => {
      const filters = Object.entries(where).flatMap(([field, value]: [string, string | string[] | null]) => {
        const chosen = Array.isArray(value)
          ? value.map((one) => ({ value: one, not: false }))
          : parseAlternatives(value ?? undefined)
        return chosen.length > 0 ? [`${field}=${chosen.map(written).join()}`] : []
      })
      return [rule, ...(typeof limit === "number" ? [limit] : []), ...filters].join(" ")
    })
    .join("\n")
}

function written({ value, not }: { value: string; not: boolean }): string {
  return (not ? "!" : "") + (NEEDS_QUOTES.test(value) ? `"${value.replaceAll('"', '""')}"` : value)
}

/** Read such lines; what is wrong in them the API says. */
export function readRules(text: string): Rule[] {
  return text.split("\n").flatMap((line) => {
    const [rule, ...parts] = line.match(PART) ?? []
    if (!rule) return []
    const limit = parts.find((part) => !part.includes("="))
    const filters = parts.filter((part) => part.includes("=")).map((part) => part.split(/=(.*)/s, 2))
    return [{ rule, ...(limit !== undefined && { limit: Number(limit) }), where: Object.fromEntries(filters) }]
  })
}
