import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { api } from "../api/client"
import { ApiProblem } from "../api/problem"
import { sentenceOf } from "../api/sentence"
import { LINK_TYPES } from "../items/kinds"
import { Choice } from "../kit/choice"
import { Ask, Refusal } from "../kit/form"
import { useSettled } from "../kit/settled"
import { Slider } from "../kit/slider"
import { formatCount, formatScore, m } from "../messages"
import css from "./accept-above.module.css"
import { asBulkFilter, asQuery, type Filters } from "./filters"
import type { LinkType } from "./use-review"

const words = m.review.acceptAbove
const SETTLED_MS = 200
const SAMPLES = 10
const FIRST_LIMIT = 0.9

type Props = {
  filters: Filters
  /** The highest score that waits. */
  best: number
  close: () => void
  done: (reviewId: string, count: number, message: string) => void
}

/** Accept everything from a score on: exactly what was counted, or nothing. */
export function AcceptAbove({ filters, best, close, done }: Props) {
  const [limit, setLimit] = useState(Math.max(filters.min ?? 0, Math.min(FIRST_LIMIT, Math.floor(best * 20) / 20)))
  const [linkType, setLinkType] = useState<LinkType>("covers")
  const settled = useSettled(limit, SETTLED_MS)
  const above = { ...filters, min: settled }
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: ["review", "above", above],
    queryFn: ({ signal }) => preview(above, signal),
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  })
  const isCounted = data !== undefined && !isPlaceholderData && settled === limit
  async function accept() {
    const body = { ...whatToDo(above), link_type: linkType, expected_count: data?.count ?? 0, dry_run: false }
    try {
      const answer = await api.post("/api/v1/suggestions/bulk-review", { body })
      if ("review_id" in answer && answer.review_id)
        done(answer.review_id, answer.reviewed, words.done(answer.reviewed, answer.failed))
      close()
    } catch (refused) {
      await refetch()
      throw withCounts(refused)
    }
  }
  return (
    <Ask
      title={words.title}
      action={isCounted ? words.accept(formatCount(data.count)) : words.counting}
      isReady={isCounted && data.count > 0}
      run={accept}
      close={close}
      asks="never"
      wide
    >
      <Slider label={words.limit} value={limit} from={0} to={1} step={0.01} format={formatScore} onChange={setLimit} />
      <p className={css.count} role="status">
        {isCounted ? words.count(data.count, formatScore(limit)) : words.counting}
      </p>
      <section className={css.samples}>
        <h3>{words.samples}</h3>
        <ol>
          {(data?.samples ?? []).map(({ id, similarity_score: score, requirement, test_case: testCase }) => (
            <li key={id}>
              <span className="numbers">{formatScore(score)}</span>
              <span>{requirement.title}</span>
              <span>{testCase.title}</span>
            </li>
          ))}
        </ol>
      </section>
      <Choice
        label={m.review.linkType}
        value={linkType}
        options={LINK_TYPES.map((type) => ({ value: type, label: m.items.values[type] }))}
        onChange={setLinkType}
      />
      {error && <Refusal>{sentenceOf(error)}</Refusal>}
    </Ask>
  )
}

const whatToDo = (above: Filters) => ({ action: "accept" as const, filter: asBulkFilter(above) })

/** Return how many there are, and those nearest the limit: where it is wrong, it is wrong there first. */
async function preview(above: Filters, signal: AbortSignal) {
  const body = { ...whatToDo(above), link_type: "covers" as const, dry_run: true }
  const query = { ...asQuery(above), sort: "score:asc" as const, limit: SAMPLES }
  const [counted, nearest] = await Promise.all([
    api.post("/api/v1/suggestions/bulk-review", { body, signal }),
    api.get("/api/v1/suggestions", { params: { query }, signal }),
  ])
  return { count: "count" in counted ? counted.count : 0, samples: nearest.items }
}

/** Return a problem with the counts that it is about. */
function withCounts(problem: unknown): unknown {
  if (!(problem instanceof ApiProblem) || problem.code !== "count_changed") return problem
  const { expected_count: expected, count } = problem.body
  return new ApiProblem(problem.status, { detail: words.changed(Number(expected), Number(count)) })
}
