import { ApiProblem } from "../api/problem"
import { type BulkAnswer, type Change, changeMany, type Query } from "./api"
import type { Kind } from "./kinds"
import type { Selected } from "./selection"

const AT_ONCE = 500
/** All there are: a filter that says nothing is refused. */
const EVERYTHING = { updated_since: "1970-01-01" }

export type Failure = { id: string; why: string; etag: string | null }
export type Outcome = { changed: number; failures: Failure[] }

/** Change what is selected, in parts where it is much; `tell` hears how many are done. */
export function changeSelected(
  kind: Kind,
  query: Query,
  total: number,
  selected: Selected,
  change: Change,
  tell: (done: number) => void,
): Promise<Outcome> {
  const { sort: _, ...filter } = query
  return selected.isAll
    ? changeMatching(kind, Object.keys(filter).length > 0 ? filter : EVERYTHING, total, change, tell)
    : changeThese(kind, selected, change, tell)
}

async function changeThese(kind: Kind, selected: Selected, change: Change, tell: (done: number) => void) {
  const outcome: Outcome = { changed: 0, failures: [] }
  let ids = [...selected.rows.keys()]
  while (ids.length > 0) {
    const part = ids.slice(0, AT_ONCE)
    const etags = part.map((id): [string, string] => [id, selected.rows.get(id)?.etag ?? ""])
    const which = { ids: part, if_match: Object.fromEntries(etags.filter(([, etag]) => etag)) }
    const answer = await changeMany(kind, which, change)
    add(outcome, answer)
    tell(outcome.changed)
    const answered = new Set(answer.results.map(({ id }) => id))
    // Nothing answered means nothing done: the same again would not end.
    ids = answered.size > 0 ? ids.filter((id) => !answered.has(id)) : []
  }
  return outcome
}

async function changeMatching(kind: Kind, filter: Query, total: number, change: Change, tell: (done: number) => void) {
  const outcome: Outcome = { changed: 0, failures: [] }
  let expected = total
  for (;;) {
    const answer = await changeMany(kind, { filter, expected_count: expected }, change)
    outcome.failures = []
    add(outcome, answer)
    tell(outcome.changed)
    if (answer.remaining === 0 || answer.changed === 0) return outcome
    // What is changed may match no longer; any other number means that somebody else changed something.
    const { matched } = await changeMany(kind, { filter }, change)
    if (matched !== expected && matched !== expected - answer.changed)
      throw new ApiProblem(409, { code: "count_changed" })
    expected = matched
  }
}

function add(outcome: Outcome, answer: BulkAnswer): void {
  outcome.changed += answer.changed
  for (const { id, status, etag, error } of answer.results) {
    if (status === "failed") outcome.failures.push({ id, why: error?.detail ?? "", etag })
  }
}
