import { Ago } from "../kit/ago"
import { useEndless } from "../kit/endless"
import { formatMoment, m, people } from "../messages"
import { readActivity } from "./api"
import type { Item } from "./kinds"
import { Rows } from "./rows"
import css from "./tab.module.css"

const PAGE = 50

/** All that happened to an item, and from when on that is known. */
export function ActivityTab({ item }: { item: Item }) {
  const list = useEndless(["activity", item.id], (place, signal) => readActivity(item.id, place, PAGE, signal))
  const keptSince = list.page?.kept_since
  const removed = keptSince && keptSince > item.created_at ? keptSince : undefined
  return (
    <div className={css.tab}>
      <Rows list={list} none={m.items.activity.none}>
        {({ summary, occurred_at }) => (
          <>
            <span className={css.summary}>{people(summary)}</span>
            <span className={css.none}>
              <Ago iso={occurred_at} />
            </span>
          </>
        )}
      </Rows>
      {!list.hasMore && removed && <p className={css.none}>{m.items.activity.removed(formatMoment(removed))}</p>}
    </div>
  )
}
