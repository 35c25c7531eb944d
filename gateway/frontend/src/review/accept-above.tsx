import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import { api } from "../api/client"
import { ApiProblem, unwrap } from "../api/problem"
import { Button } from "../kit/button"
import { Choice } from "../kit/choice"
import { Dialog, DialogButtons } from "../kit/dialog"
import { Slider } from "../kit/slider"
import { formatCount, formatScore, m } from "../messages"
import css from "./accept-above.module.css"
import { LINK_TYPES } from "./actions"
import { asBulkFilter, asQuery, type Filters } from "./filters"
import type { LinkType } from "./use-review"

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
export function AcceptAbove({ close, ...props }: Props) {
  return (
    <Dialog title={m.review.acceptAbove.title} isOpen onClose={close} wide>
      <Form close={close} {...props} />
    </Dialog>
  )
}

function Form({ filters, best, close, done }: Props) {
  const [limit, setLimit] = useState(Math.max(filters.min ?? 0, Math.min(FIRST_LIMIT, Math.floor(best * 20) / 20)))
  const [linkType, setLinkType] = useState<LinkType>("covers")
  const [problem, setProblem] = useState<string>()
  const [isSending, setSending] = useState(false)
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
    if (!data) return
    setSending(true)
    setProblem(undefined)
    try {
      const body = {
        action: "accept" as const,
        filter: asBulkFilter(above),
        link_type: linkType,
        expected_count: data.count,
        dry_run: false,
      }
      const answer = await unwrap(api.POST("/api/v1/suggestions/bulk-review", { body }))
      if ("review_id" in answer && answer.review_id)
        done(answer.review_id, answer.reviewed, m.review.acceptAbove.done(answer.reviewed, answer.failed))
      close()
    } catch (refused) {
      setProblem(sentence(refused))
      await refetch()
    } finally {
      setSending(false)
    }
  }
  return (
    <>
      <Slider
        label={m.review.acceptAbove.limit}
        value={limit}
        from={0}
        to={1}
        step={0.01}
        format={formatScore}
        onChange={setLimit}
      />
      <p className={css.count} role="status">
        {isCounted ? m.review.acceptAbove.count(data.count, formatScore(limit)) : m.review.acceptAbove.counting}
      </p>
      <section className={css.samples}>
        <h3>{m.review.acceptAbove.samples}</h3>
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
        options={LINK_TYPES.map((type) => ({ value: type, label: m.review.linkTypes[type] }))}
        onChange={setLinkType}
      />
      {(problem || error) && (
        <p className={css.problem} role="alert">
          {problem ?? sentence(error)}
        </p>
      )}
      <DialogButtons>
        <Button onPress={close}>{m.common.cancel}</Button>
        <Button look="primary" isDisabled={!isCounted || data.count === 0 || isSending} onPress={() => void accept()}>
          {isCounted ? m.review.acceptAbove.accept(formatCount(data.count)) : m.review.acceptAbove.counting}
        </Button>
      </DialogButtons>
    </>
  )
}

/** Return how many there are, and those nearest the limit: where it is wrong, it is wrong there first. */
async function preview(above: Filters, signal: AbortSignal) {
  const body = {
    action: "accept" as const,
    filter: asBulkFilter(above),
    dry_run: true,
    link_type: "covers" as const,
  }
  const query = { ...asQuery(above), sort: "score:asc" as const, limit: SAMPLES }
  const [counted, nearest] = await Promise.all([
    unwrap(api.POST("/api/v1/suggestions/bulk-review", { body, signal })),
    unwrap(api.GET("/api/v1/suggestions", { params: { query }, signal })),
  ])
  return { count: "count" in counted ? counted.count : 0, samples: nearest.items }
}

function sentence(problem: unknown): string {
  if (!(problem instanceof ApiProblem)) return m.common.failed
  const { expected_count: expected, count } = problem.body
  if (problem.code === "count_changed") return m.review.acceptAbove.changed(Number(expected), Number(count))
  return problem.status === 0 ? m.common.unreachable : problem.message
}

function useSettled<T>(value: T, after: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), after)
    return () => clearTimeout(timer)
  }, [value, after])
  return settled
}
