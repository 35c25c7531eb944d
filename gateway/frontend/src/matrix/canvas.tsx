import { type KeyboardEvent, type RefObject, useEffect, useId, useRef, useState } from "react"
import { type Shortcut, useShortcuts } from "../kit/shortcuts"
import { m } from "../messages"
import { usePreferences } from "../shell/preferences"
import { useAddress, writtenCell, written as writtenModule } from "./address"
import css from "./canvas.module.css"
import { CellPanel } from "./cell-panel"
import type { Known } from "./cells"
import { type Cell, type Matrix, stateAt } from "./decode"
import type { Band } from "./frame"
import { Heatmap } from "./heatmap"
import { HoverCard } from "./hover-card"
import { type Axis, fullName } from "./labels"
import { NAMES } from "./looks"
import { nextBad, nextGap } from "./search"
import { moved, within } from "./view"

type Props = {
  matrix: Matrix
  labels: Known
  bands: Record<Axis, Band[]> | undefined
  /** Is kept at the first cell in sight. */
  sight: RefObject<Cell | undefined>
}

const ZOOM = 1.5
const WRITE_MS = 400

/** The heat map with its keys; where it stands is in the address. */
export function Canvas({ matrix, labels, bands, sight }: Props) {
  const [url, change] = useAddress()
  const [focus, setFocus] = useState<Cell>(() => within(url.at ?? { row: 0, column: 0 }, matrix))
  const [hover, setHover] = useState<{ cell: Cell; x: number; y: number }>()
  const [isOpen, setOpen] = useState(false)
  const map = useHeatmap({ matrix, labels, bands, sight }, focus, setFocus, setHover, () => setOpen(true))
  const id = useId()
  const { canvas, probe, heatmap } = map
  const goTo = (cell: Cell | undefined) => cell && heatmap.current?.focusOn(cell)
  const gap = (step: 1 | -1) => {
    const row = nextGap(matrix, focus.row, step)
    goTo(row === undefined ? undefined : { row, column: focus.column })
  }
  const bad = m.matrix.bad[matrix.shows]
  useShortcuts([
    ...[m.matrix.keys.arrows, m.matrix.keys.pages, m.matrix.keys.ends].map(
      ([keys, label]): Shortcut => ({ keys: keys as string, label: label as string, run: () => undefined }),
    ),
    { keys: "Enter", label: m.matrix.keys.open, run: () => setOpen(true) },
    { keys: "]", label: m.matrix.keys.nextGap, repeats: true, run: () => gap(1) },
    { keys: "[", label: m.matrix.keys.gapBefore, repeats: true, run: () => gap(-1) },
    { keys: "}", label: m.matrix.keys.next(bad), repeats: true, run: () => goTo(nextBad(matrix, focus, 1)) },
    { keys: "{", label: m.matrix.keys.before(bad), repeats: true, run: () => goTo(nextBad(matrix, focus, -1)) },
    { keys: "+", label: m.matrix.keys.larger, repeats: true, run: () => heatmap.current?.zoom(ZOOM) },
    { keys: "-", label: m.matrix.keys.smaller, repeats: true, run: () => heatmap.current?.zoom(1 / ZOOM) },
    { keys: "0", label: m.matrix.keys.all, run: () => heatmap.current?.showAll() },
    { keys: "t", label: m.matrix.asTable, run: () => change({ as: "table" }) },
  ])
  function onKeyDown(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const to = moved(focus, event.key, event.shiftKey, heatmap.current?.page ?? 1, matrix)
    if (to) heatmap.current?.focusOn(to)
    else if (event.key === "Enter") setOpen(true)
    else return
    event.preventDefault()
    setHover(undefined)
  }
  const [row, column] = [labels.labels.of("row", focus.row), labels.labels.of("column", focus.column)]
  const state = NAMES[matrix.shows][stateAt(matrix, focus)] ?? ""
  return (
    <div className={css.split}>
      <div className={css.main}>
        <div
          className={css.map}
          role="application"
          aria-roledescription={m.matrix.heatmap}
          aria-label={m.matrix.label(matrix.rows, matrix.columns)}
          aria-describedby={`${id}keys`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys of the map work on it
          tabIndex={0}
          onKeyDown={onKeyDown}
          onFocus={() => heatmap.current?.setFocused(true)}
          onBlur={() => heatmap.current?.setFocused(false)}
        >
          <canvas ref={canvas} />
          <span ref={probe} hidden />
          {hover && <HoverCard {...hover} matrix={matrix} labels={labels.labels} />}
        </div>
        <p id={`${id}keys`} className="visually-hidden">
          {m.matrix.instructions(bad)}
        </p>
        <p role="status" className={css.focus}>
          {row && column && m.matrix.cell(fullName(row), fullName(column), state)}
        </p>
      </div>
      {isOpen && <CellPanel matrix={matrix} cell={focus} labels={labels.labels} onClose={() => setOpen(false)} />}
    </div>
  )
}

type Hovered = { cell: Cell; x: number; y: number } | undefined

/** Keep a heat map on a canvas, and what it shows in the address. */
function useHeatmap(
  { matrix, labels, bands, sight }: Props,
  focus: Cell,
  setFocus: (cell: Cell) => void,
  setHover: (hover: Hovered) => void,
  open: () => void,
) {
  const [url, change] = useAddress()
  const canvas = useRef<HTMLCanvasElement>(null)
  const probe = useRef<HTMLSpanElement>(null)
  const heatmap = useRef<Heatmap>(undefined)
  const { theme } = usePreferences()
  const framed = useRef(url.zoom === undefined ? undefined : url.columns)
  const written = useRef(url.at && writtenCell(url.at))
  const latest = useRef({ labels, matrix, open, change, zoom: url.zoom, focus })
  latest.current = { labels, matrix, open, change, zoom: url.zoom, focus }

  useEffect(() => {
    if (!canvas.current || !probe.current) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const here = location.pathname
    const remember = () => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        // While the next screen is on its way this one is hidden, and still there.
        if (location.pathname !== here) return
        written.current = writtenCell(latest.current.focus)
        const zoom = String(Number(map.view.size.toPrecision(4)))
        latest.current.change({ at: written.current, zoom }, { replace: true })
      }, WRITE_MS)
    }
    const { zoom, focus } = latest.current
    const map = new Heatmap(canvas.current, probe.current, latest.current.matrix, focus, {
      label: (axis, index) => latest.current.labels.labels.of(axis, index),
      onFocus: (cell) => {
        setFocus(cell)
        remember()
      },
      onHover: (cell, x, y) => setHover(cell && { cell, x, y }),
      onOpen: () => latest.current.open(),
      onView: (view) => {
        sight.current = { row: Math.floor(view.row), column: Math.floor(view.column) }
        remember()
      },
    })
    if (zoom !== undefined) map.view = { ...map.view, size: zoom }
    heatmap.current = map
    canvas.current.parentElement?.focus({ preventScroll: true })
    return () => {
      clearTimeout(timer)
      map.destroy()
    }
  }, [setFocus, setHover, sight])
  useEffect(() => heatmap.current?.change(matrix), [matrix])
  useEffect(() => heatmap.current?.restyle(), [labels, theme])
  useEffect(() => {
    if (!bands) return
    heatmap.current?.setBands(bands)
    if (framed.current === url.columns) return
    framed.current = url.columns
    const band = bands.column.find((one) => writtenModule(one.module) === url.columns)
    if (!band) return
    heatmap.current?.focusOn({ row: 0, column: band.from })
    heatmap.current?.show({ from: 0, to: latest.current.matrix.rows }, band)
  }, [bands, url.columns])
  // Going back in the browser leads to another cell.
  const { at } = url
  useEffect(() => {
    if (!at || writtenCell(at) === written.current) return
    written.current = writtenCell(at)
    heatmap.current?.focusOn(at)
  }, [at])
  return { canvas, probe, heatmap }
}
