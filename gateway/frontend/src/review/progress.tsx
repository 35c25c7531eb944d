import { useEffect, useState } from "react"
import { formatCount, m } from "../messages"
import css from "./progress.module.css"
import { perMinute, type Queue } from "./queue"
import { useUnconfirmed } from "./sending"

const EACH_MS = 10_000

/** What is done and left, how fast, and what the server has not confirmed yet. */
export function Progress({ queue, isLoaded }: { queue: Queue; isLoaded: boolean }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), EACH_MS)
    return () => clearInterval(timer)
  }, [])
  const waiting = useUnconfirmed().filter((write) => "tries" in write && Number(write.tries) > 0).length
  const rate = perMinute(queue.times, now)
  if (!isLoaded) return null
  return (
    <p className={css.progress}>
      {waiting > 0 && <span className={css.waiting}>{m.review.waiting(waiting)}</span>}
      {queue.done > 0 && <span>{m.review.doneCount(formatCount(queue.done))}</span>}
      <span>
        {queue.pairsLeft > queue.left
          ? m.review.leftOf(formatCount(queue.left), queue.pairsLeft)
          : m.review.left(formatCount(queue.left))}
      </span>
      {rate !== undefined && <span>{m.review.rate(rate)}</span>}
    </p>
  )
}
