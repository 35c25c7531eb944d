import { queryOptions, useQuery } from "@tanstack/react-query"
import { useEffect } from "react"
import { api } from "../api/client"
import { Button } from "../kit/button"
import { Empty, Failure, Skeleton } from "../kit/states"
import { formatCount, m } from "../messages"
import { useWhyNot } from "../projects/queries"
import { Looking, type Search, useLookedAt, useLooking } from "../shell/looking"
import { type Filters, isNarrowed, NO_FILTERS } from "./filters"
import { facetsOf } from "./queries"
import { skipped } from "./queue"
import type { useReview } from "./use-review"

type Props = {
  review: ReturnType<typeof useReview>
  filters: Filters
  change: (some: Partial<Filters>) => void
  /** When the search for links was last seen to end. */
  foundAt: number
  /** Opens the dialog that finds further pairs, for who may. */
  generate: (() => void) | undefined
}

/** Why no pair is shown: still loading, not to be loaded, or nothing left, and then what to do next. */
export function NoPair(props: Props) {
  const { review, foundAt } = props
  const search = useLooking()
  const { lookAgain } = review
  const lookedAt = useLookedAt()
  // A short search begins and ends between two questions.
  useEffect(() => {
    if (lookedAt > 0) lookAgain()
  }, [lookedAt, lookAgain])
  if (review.error) return <Failure error={review.error} retry={review.retry} />
  if (!review.isLoaded || review.hasMore || !search || (search.is_complete && review.listedAt < foundAt)) {
    return <Skeleton />
  }
  return <NothingLeft {...props} search={search} />
}

/** Whether there was ever a pair to review. */
const ever = queryOptions({
  queryKey: ["suggestions", "ever"],
  queryFn: async ({ signal }) => {
    const { total } = await api.get("/api/v1/suggestions", { params: { query: { limit: 1 } }, signal })
    return total > 0
  },
})

function NothingLeft({ review, filters, change, generate, search }: Props & { search: Search }) {
  const { queue } = review
  const { data: wasEver } = useQuery(ever)
  const whyNot = useWhyNot(m.review.empty.viewerHint)
  const { data: facets } = useQuery(facetsOf(filters))
  const isNarrow = isNarrowed(filters)
  const skips = skipped(queue)
  const next = filters.module !== undefined && facets?.module?.find(({ value }) => (value ?? "") !== filters.module)
  const words = m.review.empty
  if (wasEver === undefined) return <Skeleton />
  const done = isNarrow ? words.narrowed : wasEver ? words.all : words.nothing
  const hint = wasEver ? words.hint : words.nothingHint
  return (
    <Empty
      title={search.is_complete ? done : <Looking search={search} />}
      hint={skips > 0 ? words.skipped(skips) : !search.is_complete ? words.lookingHint : generate ? hint : whyNot}
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
