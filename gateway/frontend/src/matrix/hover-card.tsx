import { useLayoutEffect, useRef } from "react"
import { m } from "../messages"
import css from "./canvas.module.css"
import type { Cell, Matrix } from "./decode"
import { fullName, type Labels } from "./labels"
import { CellBadge } from "./legend"

type Props = { cell: Cell; x: number; y: number; matrix: Matrix; labels: Labels }

const AWAY = 16

/** What is below the pointer: both titles, and what is between them. */
export function HoverCard({ cell, x, y, matrix, labels }: Props) {
  const card = useRef<HTMLDivElement>(null)
  const [row, column] = [labels.of("row", cell.row), labels.of("column", cell.column)]
  useLayoutEffect(() => {
    const element = card.current
    const around = element?.parentElement
    if (!element || !around) return
    const left = x + AWAY + element.offsetWidth > around.clientWidth ? x - AWAY - element.offsetWidth : x + AWAY
    const top = y + AWAY + element.offsetHeight > around.clientHeight ? y - AWAY - element.offsetHeight : y + AWAY
    element.style.setProperty("transform", `translate(${Math.max(0, left)}px, ${Math.max(0, top)}px)`)
  })
  return (
    <div ref={card} className={css.card} aria-hidden="true">
      <p>{row ? fullName(row) : m.common.loading}</p>
      <p>{column ? fullName(column) : m.common.loading}</p>
      <CellBadge matrix={matrix} cell={cell} />
    </div>
  )
}
