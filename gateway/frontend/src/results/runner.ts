import type { components } from "../api/schema"

export type Runner = components["schemas"]["RunnerExample"]

/** The test case of the examples. */
const EXAMPLE = "TC-1"
/** An id that can stand in the name of a function as well, with an underscore. */
const PLAIN = /^[A-Za-z][A-Za-z0-9]*([-_][A-Za-z0-9]+)*$/

/** Return the id that examples are shown with: of those of a project the first that any runner can take. */
export function exampleId(ids: (string | null)[]): string {
  return ids.find((id) => id !== null && PLAIN.test(id)) ?? EXAMPLE
}

/** Return lines of an example with the id of another test case, also where it is part of the name of a function. */
export function withId(lines: string, id: string): string {
  return lines.replaceAll(EXAMPLE, id).replaceAll(EXAMPLE.replace("-", "_"), id.replaceAll("-", "_"))
}

/** Return the runner whose report a text begins like. */
export const runnerOf = (runners: Runner[], text: string): Runner | undefined =>
  runners.find(({ known_by }) => new RegExp(known_by).test(text))

/** Return the command that sends the report of a runner; a pattern is for it, not for the shell. */
export function commandOf({ send }: Pick<Runner, "send">, project: string): string {
  const files = send.includes("*") ? `'${send}'` : send
  return `traceline results ${files} --project ${project}`
}
