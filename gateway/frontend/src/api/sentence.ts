import { m } from "../messages"
import { ApiProblem, UNREACHABLE } from "./problem"

/** Return what an error says to people; `known` are the words of a screen for some codes and statuses. */
export function sentenceOf(error: unknown, known: Record<string, string> = {}): string {
  if (!(error instanceof ApiProblem)) return m.common.failed
  const said = known[error.code] ?? known[error.status] ?? error.message
  return said || (error.status === UNREACHABLE ? m.common.unreachable : m.common.failed)
}
