import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual"
import { memo, useEffect, useLayoutEffect, useRef } from "react"
import { Link } from "wouter"
import { formatCount, formatScore, m } from "../messages"
import { usePreferences } from "../shell/preferences"
import css from "./list.module.css"
import type { Pair } from "./queue"

const HEIGHT = { comfortable: 56, compact: 44 }
const NEAR_THE_END = 20

type Props = {
  pairs: readonly Pair[]
  current: string | undefined
  failures: ReadonlyMap<string, string>
  left: number
  choose: (id: string) => void
  more: () => void
}

/** The pairs that wait, as many as are in view. */
export const List = memo(function List({ pairs, current, failures, left, choose, more }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const height = HEIGHT[usePreferences().density]
  const rows = useVirtualizer({
    count: pairs.length,
    getScrollElement: () => box.current,
    estimateSize: () => height,
    overscan: 6,
    useFlushSync: false,
  })
  useEffect(() => rows.measure(), [rows, height])
  const index = pairs.findIndex(({ id }) => id === current)
  useKeepInView(rows, current, index, height)
  const items = rows.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last > pairs.length - NEAR_THE_END) more()
  }, [last, pairs.length, more])
  return (
    <div className={css.box} ref={box}>
      <ol
        className={css.list}
        style={{ blockSize: rows.getTotalSize(), paddingBlockStart: items[0]?.start ?? 0 }}
        aria-label={m.review.list}
      >
        {items.map(({ index: place }) => {
          const pair = pairs[place]
          return (
            pair && (
              <Row
                key={pair.id}
                pair={pair}
                height={height}
                // Of the others nobody asks, and they need not be drawn again when it changes.
                number={pair.id === current ? place + 1 : undefined}
                count={pair.id === current ? left : undefined}
                isFailed={failures.has(pair.id)}
                choose={choose}
              />
            )
          )
        })}
      </ol>
    </div>
  )
})

type RowProps = {
  pair: Pair
  height: number
  /** Its place among `count` pairs, of the current one. */
  number: number | undefined
  count: number | undefined
  isFailed: boolean
  choose: (id: string) => void
}

const Row = memo(function Row({ pair, height, number, count, isFailed, choose }: RowProps) {
  const { requirement, test_case: testCase, band, more_of_requirement: more, variants } = pair
  const isCurrent = number !== undefined
  return (
    <li className={css.place} style={{ blockSize: height }} aria-posinset={number} aria-setsize={count}>
      <button
        type="button"
        className={css.row}
        aria-current={isCurrent || undefined}
        tabIndex={isCurrent ? 0 : -1}
        onClick={() => choose(pair.id)}
      >
        <span className={css.score} data-band={band}>
          {formatScore(pair.similarity_score)}
        </span>
        <span className={css.titles}>
          <span>{requirement.title}</span>
          <span className={css.test}>{testCase.title}</span>
          {!!variants?.length && <span className={css.variants}>{m.review.andVariants(variants.length)}</span>}
        </span>
        {isFailed && <span className={css.failed}>{m.review.failedMark}</span>}
      </button>
      {!!more && isCurrent && (
        <Link className={css.more} href={`/review?requirement=${requirement.id}`}>
          {m.review.moreOfRequirement(formatCount(more))}
        </Link>
      )}
    </li>
  )
})

/** Scroll so that the current row is seen; when rows above it go, it stays where it is. The focus goes along. */
function useKeepInView(
  rows: Virtualizer<HTMLDivElement, Element>,
  current: string | undefined,
  index: number,
  height: number,
): void {
  const before = useRef({ current, index })
  const hadFocus = useRef(false)
  useEffect(() => {
    const note = () => {
      hadFocus.current = rows.scrollElement?.contains(document.activeElement) ?? false
    }
    document.addEventListener("focusin", note)
    return () => document.removeEventListener("focusin", note)
  }, [rows])
  useLayoutEffect(() => {
    const { scrollElement: element } = rows
    const { current: last, index: lastIndex } = before.current
    before.current = { current, index }
    if (!element || index < 0) return
    if (last === current) {
      element.scrollTop += lastIndex < 0 ? 0 : (index - lastIndex) * height
      return
    }
    const [top, bottom] = [index * height, (index + 1) * height]
    // To ask the element itself would have the whole page laid out here.
    const first = rows.scrollOffset ?? element.scrollTop
    const inView = rows.scrollRect?.height ?? element.clientHeight
    if (top < first) element.scrollTop = top
    else if (bottom > first + inView) element.scrollTop = bottom - inView
    if (hadFocus.current) {
      element.querySelector<HTMLElement>("[aria-current]")?.focus({ preventScroll: true })
    }
  }, [rows, current, index, height])
}
