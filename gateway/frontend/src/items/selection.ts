import { useRef, useState } from "react"
import type { ItemRow } from "./kinds"

/** What is selected: all that match, or these rows as they were when they were selected. */
export type Selected = { isAll: boolean; rows: ReadonlyMap<string, ItemRow> }
export const NOTHING: Selected = { isAll: false, rows: new Map() }

/** Return a selection with a row in it that was not, or without it. */
export function toggled({ rows }: Selected, row: ItemRow): Selected {
  const next = new Map(rows)
  if (!next.delete(row.id)) next.set(row.id, row)
  return { isAll: false, rows: next }
}

/** Return a selection with further rows. */
export function extended({ rows }: Selected, more: (ItemRow | undefined)[]): Selected {
  const known = more.filter((row) => row !== undefined)
  return { isAll: false, rows: new Map([...rows, ...known.map((row): [string, ItemRow] => [row.id, row])]) }
}

/** Return how many are selected, of `total` that match. */
export const countOf = ({ isAll, rows }: Selected, total: number): number => (isAll ? total : rows.size)

/** Rows that are selected one by one, as a range from where the last single step led, or all that match. */
export function useSelection(initial: Selected, row: (index: number) => ItemRow | undefined) {
  const [selected, setSelected] = useState(initial)
  const range = useRef<{ anchor: number; before: Selected }>(undefined)
  const become = (next: Selected) => {
    range.current = undefined
    setSelected(next)
  }
  return {
    selected,
    become,
    toggle(index: number) {
      const one = row(index)
      if (one && !selected.isAll) become(toggled(selected, one))
    },
    toggleAll: () => become(selected.isAll ? NOTHING : { ...NOTHING, isAll: true }),
    /** Select what is between the anchor, at first `active`, and `index`; what a shorter range leaves is as before. */
    extend(active: number, index: number) {
      if (selected.isAll) return
      range.current ??= { anchor: active, before: selected }
      const { anchor, before } = range.current
      const [first, last] = anchor < index ? [anchor, index] : [index, anchor]
      setSelected(
        extended(
          before,
          Array.from({ length: last - first + 1 }, (_, step) => row(first + step)),
        ),
      )
    },
    /** A step without Shift begins a new range. */
    endRange() {
      range.current = undefined
    },
  }
}
