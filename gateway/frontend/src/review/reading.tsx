import { useQuery } from "@tanstack/react-query"
import { type PointerEvent, useLayoutEffect, useRef, useState } from "react"
import { useShortcuts } from "../kit/shortcuts"
import { Failure } from "../kit/states"
import { formatAgo, formatMoment, m, people } from "../messages"
import { textsOf } from "./queries"
import type { Pair, Taken } from "./queue"
import css from "./reading.module.css"
import { BothTexts } from "./texts"
import { Variants } from "./variants"
import { Why } from "./why"

/** What is chosen: all terms, one of them, or none. */
type Shown = { pair: string; terms: "all" | "none" | { only: string } }

type Props = {
  pair: Pair
  taken: Taken | undefined
  failure: string | undefined
  takeOut: ((ids: readonly string[]) => void) | undefined
}

/** The pair that is read: both texts in the middle, why they were put together at the edge. */
export function Reading({ pair, taken, failure, takeOut }: Props) {
  const { data: texts, error, refetch } = useQuery(textsOf(pair.id))
  const [shown, setShown] = useState<Shown>({ pair: pair.id, terms: "all" })
  const [hovered, setHovered] = useState<string>()
  const scrolled = useRef(new Set<Element>())
  // Each pair is read from its beginning.
  useLayoutEffect(() => {
    for (const part of scrolled.current) part.scrollTop = 0
    scrolled.current.clear()
  }, [pair.id])
  const terms = shown.pair === pair.id || shown.terms === "none" ? shown.terms : "all"
  const chosen = typeof terms === "object" ? terms.only : undefined
  const only = hovered ?? chosen
  const show = (next: Shown["terms"]) => setShown({ pair: pair.id, terms: next })
  useShortcuts([{ keys: "h", label: m.review.keys.highlights, run: () => show(after(terms, termsOf(texts?.spans))) }])
  const hover = ({ target }: PointerEvent) =>
    setHovered(target instanceof Element ? target.closest<HTMLElement>("[data-term]")?.dataset.term : undefined)
  return (
    <div
      className={css.reading}
      onPointerOver={hover}
      onPointerLeave={() => setHovered(undefined)}
      onScrollCapture={({ target }) => scrolled.current.add(target as Element)}
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
      <div className={css.pair} tabIndex={0}>
        {taken && <p className={css.taken}>{takenSentence(taken)}</p>}
        {failure && <p className={css.failed}>{m.review.cameBack(failure)}</p>}
        {error && <Failure error={error} retry={() => void refetch()} />}
        {!!pair.variants?.length && <Variants pair={pair} variants={pair.variants} takeOut={takeOut} />}
        <div className={css.sides}>
          <BothTexts pair={pair} texts={texts} only={only} areMarked={terms !== "none"} />
        </div>
      </div>
      <div className={css.edge}>
        <Why pair={pair} texts={texts} only={only} choose={(term) => show(term ? { only: term } : "all")} />
      </div>
    </div>
  )
}

/** Return who was there before, what they did and when. */
export function takenSentence({ status, by, at }: Taken): string {
  const what = m.review.statuses[status as keyof typeof m.review.statuses] ?? status
  return m.review.taken(by && people(by), what, at && m.review.when(formatAgo(at), formatMoment(at)))
}

/** All terms, then each by itself, the heaviest first, then none. */
function after(terms: Shown["terms"], all: string[]): Shown["terms"] {
  const next = terms === "all" ? 0 : terms === "none" ? -1 : all.indexOf(terms.only) + 1
  if (next < 0) return "all"
  const term = all[next]
  return term === undefined ? "none" : { only: term }
}

function termsOf(spans: readonly { term: string; weight: number }[] | null | undefined): string[] {
  const byWeight = [...(spans ?? [])].sort((one, other) => other.weight - one.weight)
  return [...new Set(byWeight.map(({ term }) => term))]
}
