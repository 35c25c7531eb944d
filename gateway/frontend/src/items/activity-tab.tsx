import { Ago } from "../kit/ago"
import { Button } from "../kit/button"
import { useEndless } from "../kit/endless"
import { NotYet } from "../kit/states"
import { m } from "../messages"
import { readActivity } from "./api"
import type { Item } from "./kinds"
import css from "./tab.module.css"

const PAGE = 50

/** Who did what to an item. */
export function ActivityTab({ item }: { item: Item }) {
  const list = useEndless(["activity", item.id], ({ skip = 0 }, signal) => readActivity(item.id, skip, PAGE, signal))
  return (
    <div className={css.tab}>
      <NotYet query={list.query} rows={3} />
      {list.rows?.length === 0 && <p className={css.none}>{m.items.activity.none}</p>}
      <ul className={css.rows}>
        {list.rows?.map((one) => (
          <li key={one.id} className={css.row}>
            <span className={css.summary}>{one.summary}</span>
            <span className={css.none}>
              <Ago iso={one.occurred_at} />
            </span>
          </li>
        ))}
      </ul>
      <More list={list} />
    </div>
  )
}

type Props = {
  list: { hasMore: boolean; more: () => void; query: { isFetchingNextPage: boolean } }
}

/** A button for what comes next in a list. */
export function More({ list }: Props) {
  if (!list.hasMore) return null
  return (
    <div>
      <Button isDisabled={list.query.isFetchingNextPage} onPress={list.more}>
        {m.common.more}
      </Button>
    </div>
  )
}
