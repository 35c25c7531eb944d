import { useQuery } from "@tanstack/react-query"
import { Button } from "../kit/button"
import { Empty, Failure, Skeleton } from "../kit/states"
import { formatCount, m } from "../messages"
import { useWhyNot } from "../projects/queries"
import { type Filters, isNarrowed, NO_FILTERS } from "./filters"
import { facetsOf } from "./queries"
import { skipped } from "./queue"
import type { useReview } from "./use-review"

type Props = {
  review: ReturnType<typeof useReview>
  filters: Filters
  change: (some: Partial<Filters>) => void
  /** Opens the dialog that finds further pairs, for who may. */
  generate: (() => void) | undefined
}

/** Why no pair is shown: still loading, not to be loaded, or nothing left, and then what to do next. */
export function NoPair(props: Props) {
  const { review } = props
  if (review.error) return <Failure error={review.error} retry={review.retry} />
  if (!review.isLoaded || review.hasMore) return <Skeleton />
  return <NothingLeft {...props} />
}

function NothingLeft({ review, filters, change, generate }: Props) {
  const { queue } = review
  const whyNot = useWhyNot(m.review.empty.viewerHint)
  const { data: facets } = useQuery(facetsOf(filters))
  const isNarrow = isNarrowed(filters)
  const skips = skipped(queue)
  const next = filters.module !== undefined && facets?.module?.find(({ value }) => (value ?? "") !== filters.module)
  return (
    <Empty
      title={isNarrow ? m.review.empty.narrowed : m.review.empty.all}
      hint={skips > 0 ? m.review.empty.skipped(skips) : generate ? m.review.empty.hint : whyNot}
    >
      {skips > 0 && (
        <Button look="primary" onPress={() => review.dispatch({ type: "skips-returned" })}>
          {m.review.empty.returnSkipped}
        </Button>
      )}
      {next && (
        <Button look={skips > 0 ? "plain" : "primary"} onPress={() => change({ module: next.value ?? "" })}>
          {m.review.empty.nextModule(next.value ?? m.common.noModule, formatCount(next.count))}
        </Button>
      )}
      {isNarrow && <Button onPress={() => change(NO_FILTERS)}>{m.review.empty.everything}</Button>}
      {generate && <Button onPress={generate}>{m.review.generate.open}</Button>}
      {generate && queue.steps.length > 0 && (
        <Button keys="u" onPress={review.undo}>
          {m.common.undo}
        </Button>
      )}
    </Empty>
  )
}
