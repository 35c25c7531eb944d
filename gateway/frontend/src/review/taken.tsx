import { Button } from "../kit/button"
import { m } from "../messages"
import { nameOf } from "./names"
import type { Report } from "./outbox"
import { takenSentence } from "./reading"
import css from "./taken.module.css"

/** What others decided on before a decision made here arrived: the newest, and how many more. */
export function TakenLately({ reports, close }: { reports: readonly Report[]; close: () => void }) {
  const last = reports.at(-1)
  if (last?.outcome !== "taken") return null
  const { suggestion_status: status, reviewed_by: by, reviewed_at: at } = last.problem.body
  const sentence = by
    ? takenSentence({ status: String(status), by: String(by), at: at ? String(at) : null })
    : last.problem.message
  return (
    <div className={css.taken} role="status">
      <span>{m.review.takenFirst(nameOf(last.write.pair), sentence)}</span>
      {reports.length > 1 && <span>{m.review.takenMore(reports.length - 1)}</span>}
      <Button look="quiet" onPress={close}>
        {m.common.close}
      </Button>
    </div>
  )
}
