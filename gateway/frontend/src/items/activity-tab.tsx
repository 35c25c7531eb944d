import { useInfiniteQuery } from "@tanstack/react-query"
import { Ago } from "../kit/ago"
import { Button } from "../kit/button"
import { Failure, Skeleton } from "../kit/states"
import { m } from "../messages"
import { readActivity } from "./api"
import type { Item } from "./kinds"
import css from "./tab.module.css"

const PAGE = 50

/** Who did what to an item. */
export function ActivityTab({ item }: { item: Item }) {
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ["activity", item.id],
    queryFn: ({ pageParam, signal }) => readActivity(item.id, pageParam, PAGE, signal),
    initialPageParam: 0,
    getNextPageParam: ({ skip, total }) => (skip + PAGE < total ? skip + PAGE : undefined),
  })
  const all = data?.pages.flatMap((page) => page.items)
  return (
    <div className={css.tab}>
      {error ? <Failure error={error} retry={() => void refetch()} /> : null}
      {!data && !error && <Skeleton rows={3} />}
      {all?.length === 0 && <p className={css.none}>{m.items.activity.none}</p>}
      <ul className={css.rows}>
        {all?.map((one) => (
          <li key={one.id} className={css.row}>
            <span className={css.summary}>{one.summary}</span>
            <span className={css.none}>
              <Ago iso={one.occurred_at} />
            </span>
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <div>
          <Button isDisabled={isFetchingNextPage} onPress={() => void fetchNextPage()}>
            {m.items.activity.more}
          </Button>
        </div>
      )}
    </div>
  )
}
