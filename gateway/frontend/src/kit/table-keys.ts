import { useRef, useState } from "react"
import { m } from "../messages"
import { type Shortcut, useShortcuts } from "./shortcuts"
import type { Table } from "./table"

/** The row of a table that keys work on: how to go to one, after which `moved` is called, and to begin at the first. */
export function useActiveRow(moved?: (index: number, keepsRange: boolean) => void, atFirst = 0) {
  const table = useRef<Table>(null)
  const [active, setActive] = useState(atFirst)
  function activate(index: number, keepsRange = false) {
    setActive(index)
    table.current?.scrollTo(index)
    if (!document.activeElement?.closest("[role=grid], [role=treegrid]")) table.current?.focus()
    moved?.(index, keepsRange)
  }
  function begin() {
    setActive(0)
    table.current?.scrollTo(0)
  }
  return { table, active, activate, begin }
}

type Moves = {
  active: number
  count: number
  onActive: (index: number) => void
  onOpen: () => void
  onPeek?: () => void
  onSelect?: () => void
  /** Select from where the selection began to this row. */
  onExtend?: (index: number) => void
}

/** Have the keys of a list move in a table, open, peek and select. */
export function useTableKeys({ active, count, onActive, onOpen, onPeek, onSelect, onExtend }: Moves): void {
  const next = Math.min(count - 1, active + 1)
  const before = Math.max(0, active - 1)
  const words = m.common.list
  const move = (keys: string, label: string, run: () => void): Shortcut => ({ keys, label, repeats: true, run })
  const shortcuts: (Shortcut | false | undefined)[] = [
    move("j", words.next, () => onActive(next)),
    move("k", words.before, () => onActive(before)),
    move("ArrowDown", words.next, () => onActive(next)),
    move("ArrowUp", words.before, () => onActive(before)),
    { keys: "Enter", label: words.open, run: onOpen },
    onPeek && { keys: "Space", label: words.peek, run: onPeek },
    onSelect && { keys: "x", label: words.select, run: onSelect },
    onExtend && move("Shift+ArrowDown", words.extend, () => onExtend(next)),
    onExtend && move("Shift+ArrowUp", words.extend, () => onExtend(before)),
  ]
  useShortcuts(count > 0 ? shortcuts.filter((one) => one !== undefined && one !== false) : [])
}
