import { lazy, memo, useCallback, useEffect, useState } from "react"
import { Button } from "../kit/button"
import { useTitle } from "../kit/page"
import { useShortcuts } from "../kit/shortcuts"
import { m } from "../messages"
import { useMay } from "../session/session"
import { Looking, useLooking, useLookingEnd } from "../shell/looking"
import { AcceptAbove } from "./accept-above"
import { Actions } from "./actions"
import { Both } from "./both"
import { useFilters } from "./filters"
import { From, useFrom } from "./from"
import { GenerateDialog, isGoingOn, RunStrip, useLastRun } from "./generate"
import { List } from "./list"
import { nameOf } from "./names"
import { NoPair } from "./no-pair"
import css from "./page.module.css"
import { Progress } from "./progress"
import { around } from "./queue"
import { Reading } from "./reading"
import { TakenLately } from "./taken"
import { Toolbar } from "./toolbar"
import { useReview } from "./use-review"

const Proposals = lazy(() => import("./proposals"))

type Open = "above" | "generate" | "both" | undefined

/** What waits for a decision: pairs that the engine suggests, or what agents propose. */
export default function ReviewPage() {
  const [from] = useFrom()
  return from === undefined ? <Suggestions /> : <Proposals key={from} from={from} />
}

/** The queue of pairs that wait for a decision. */
function Suggestions() {
  const [filters, change] = useFilters()
  const review = useReview(filters)
  const { queue, dispatch, reload } = review
  const mayReview = useMay("reviewer")
  const [open, setOpen] = useState<Open>()
  const [isListOpen, setListOpen] = useState(false)
  const [isBarOpen, setBarOpen] = useState(false)
  const [closedRun, setClosedRun] = useState<string>()
  const run = useLastRun(reload)
  const search = useLooking()
  const foundAt = useLookingEnd()
  useEffect(() => {
    if (foundAt > 0) reload()
  }, [foundAt, reload])
  const [ownRun, setOwnRun] = useState<string>()
  if (run && isGoingOn(run) && ownRun !== run.id) setOwnRun(run.id)
  const close = () => setOpen(undefined)
  useTitle(m.review.title)
  const { pair, index } = around(queue, 0)
  const choose = useCallback(
    (id: string) => {
      dispatch({ type: "chosen", id })
      setListOpen(false)
    },
    [dispatch],
  )
  const go = (by: number) => () => dispatch({ type: "moved", by })
  useShortcuts([
    { keys: "j", label: m.review.keys.next, repeats: true, run: go(1) },
    { keys: "k", label: m.review.keys.previous, repeats: true, run: go(-1) },
    ...(pair ? [{ keys: "o", label: m.review.keys.both, run: () => setOpen("both") }] : []),
    ...(mayReview
      ? [
          { keys: "u", label: m.review.keys.undo, run: review.undo },
          { keys: "Mod+z", label: m.review.keys.undo, run: review.undo },
          { keys: "Backspace", label: m.review.keys.undo, run: review.undo },
          { keys: "Shift+A", label: m.review.keys.acceptAbove, run: () => setOpen("above") },
        ]
      : []),
  ])
  return (
    <div className={css.page}>
      <header className={css.header} data-open={isBarOpen || undefined}>
        <h1>{m.review.title}</h1>
        <div className={css.narrow}>
          <Button look="quiet" aria-expanded={isBarOpen} onPress={() => setBarOpen(!isBarOpen)}>
            {m.review.filters}
          </Button>
        </div>
        <From />
        <Toolbar filters={filters} change={change} />
        {mayReview && <ForAll isEmpty={queue.shown.length === 0} open={setOpen} />}
      </header>
      {run && run.id === ownRun && run.id !== closedRun && (
        <RunStrip run={run} mayCancel={mayReview} close={() => setClosedRun(run.id)} />
      )}
      {pair && search && !search.is_complete && !(run && isGoingOn(run)) && (
        <div className={css.strip}>
          <Looking search={search} />
        </div>
      )}
      <TakenLately reports={review.takenLately} close={review.forgetTaken} />
      <p className="visually-hidden" role="status">
        {pair && m.review.reading(index + 1, queue.left, nameOf(pair))}
      </p>
      {pair ? (
        <div className={css.columns} data-list-open={isListOpen || undefined}>
          <div className={css.list}>
            <Progress queue={queue} isLoaded={review.isLoaded} />
            <List
              pairs={queue.shown}
              current={pair.id}
              failures={queue.failures}
              left={queue.left}
              choose={choose}
              more={review.more}
            />
          </div>
          <div className={css.main}>
            <div className={`${css.narrow} ${css.where}`}>
              <Button look="quiet" aria-expanded={isListOpen} onPress={() => setListOpen(!isListOpen)}>
                {m.review.listButton(index + 1, queue.left)}
              </Button>
            </div>
            <Reading
              pair={pair}
              taken={queue.taken.get(pair.id)}
              failure={queue.failures.get(pair.id)}
              takeOut={mayReview ? (ids) => dispatch({ type: "taken-out", ids }) : undefined}
            />
            {mayReview && (
              <Actions
                pair={pair}
                isTaken={queue.taken.has(pair.id)}
                canUndo={queue.steps.length > 0}
                decide={review.decide}
                undo={review.undo}
              />
            )}
          </div>
        </div>
      ) : (
        <NoPair
          review={review}
          filters={filters}
          change={change}
          foundAt={foundAt}
          generate={mayReview ? () => setOpen("generate") : undefined}
        />
      )}
      {pair && open === "both" && <Both pair={pair} close={close} />}
      {open === "above" && (
        <AcceptAbove
          filters={filters}
          best={Math.max(0, ...queue.shown.slice(0, 100).map((one) => one.similarity_score))}
          close={close}
          done={(reviewId, count, message) => review.decidedMany("accepted", reviewId, count, message)}
        />
      )}
      {open === "generate" && <GenerateDialog close={close} />}
    </div>
  )
}

/** What a reviewer does with all pairs at once. */
const ForAll = memo(function ForAll({ isEmpty, open }: { isEmpty: boolean; open: (what: Open) => void }) {
  return (
    <div className={css.buttons}>
      <Button keys="Shift+A" isDisabled={isEmpty} onPress={() => open("above")}>
        {m.review.acceptAbove.open}
      </Button>
      <Button onPress={() => open("generate")}>{m.review.generate.open}</Button>
    </div>
  )
})
