import { Ago } from "../kit/ago"
import { useEndless } from "../kit/endless"
import { m } from "../messages"
import { readActivity } from "./api"
import type { Item } from "./kinds"
import { Rows } from "./rows"
import css from "./tab.module.css"

const PAGE = 50

/** Who did what to an item. */
export function ActivityTab({ item }: { item: Item }) {
  const list = useEndless(["activity", item.id], ({ skip = 0 }, signal) => readActivity(item.id, skip, PAGE, signal))
  return (
    <div className={css.tab}>
      <Rows list={list} none={m.items.activity.none}>
        {({ summary, occurred_at }) => (
          <>
            <span className={css.summary}>{summary}</span>
            <span className={css.none}>
              <Ago iso={occurred_at} />
            </span>
          </>
        )}
      </Rows>
    </div>
  )
}
