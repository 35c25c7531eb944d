import { type ReactNode, useEffect, useState } from "react"
import { ApiProblem } from "../api/problem"
import { sentenceOf } from "../api/sentence"
import { m } from "../messages"
import { Button } from "./button"
import css from "./states.module.css"

const LONG_MS = 10_000

/** Rows of the height of what is to come. */
export function Skeleton({ rows = 8 }: { rows?: number }) {
  const [isLong, setLong] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), LONG_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className={css.skeleton} role="status" aria-label={m.common.loading}>
      {isLong && <p>{m.common.stillLoading}</p>}
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} aria-hidden="true" />
      ))}
    </div>
  )
}

/** Why there is nothing here, and what to do about it. */
export function Empty({ title, hint, children }: { title: ReactNode; hint?: string; children?: ReactNode }) {
  return (
    <div className={css.empty}>
      <h2>{title}</h2>
      {hint && <p>{hint}</p>}
      {children && <div className={css.actions}>{children}</div>}
    </div>
  )
}

type Read = { data?: unknown; error: unknown; refetch: () => unknown }

/** What is shown of a query without an answer: why there is none, or rows of the height of what is to come. */
export function NotYet({ query: { data, error, refetch }, rows }: { query: Read; rows?: number }) {
  if (error) return <Failure error={error} retry={() => void refetch()} />
  return data === undefined ? <Skeleton rows={rows} /> : null
}

/** What went wrong, in the words of the API, and a way to try again. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const requestId = error instanceof ApiProblem && error.requestId
  return (
    <div className={css.failure} role="alert">
      <p>{sentenceOf(error)}</p>
      {requestId && <code>{m.common.requestId(requestId)}</code>}
      {retry && <Button onPress={retry}>{m.common.retry}</Button>}
    </div>
  )
}
