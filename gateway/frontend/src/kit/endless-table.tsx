import { type ReactNode, useEffect, useRef } from "react"
import type { Endless } from "./endless"
import { NotYet } from "./states"
import { type TableProps, VirtualTable } from "./table"
import { useActiveRow, useTableKeys } from "./table-keys"

type Props<Row> = Pick<TableProps<Row>, "label" | "columns" | "sort" | "onSort"> & {
  list: Endless<Row>
  /** How many rows are hinted at until the first answer. */
  waiting: number
  /** What stands there when there is no row. */
  none: ReactNode
  /** Called by Enter, and by a click where `isPressable`. */
  onOpen?: (row: Row) => void
  isPressable?: boolean
  /** The row beside the table, which Enter, Space and a click show or put away. */
  beside?: { shown: Row | undefined; show: (row: Row | undefined) => void; idOf: (row: Row) => unknown }
}

/** A list that is read page by page, with its keys; when something else is asked for, it begins at its first row. */
export function EndlessTable<Row>({ list, waiting, none, onOpen, isPressable, beside, ...props }: Props<Row>) {
  const { rows, key } = list
  const count = rows?.length ?? 0
  const { table, active, activate, begin } = useActiveRow((index) => beside?.shown && beside.show(rows?.[index]))
  function open(index: number) {
    const row = rows?.[index]
    if (row === undefined) return
    const isShown = beside?.shown !== undefined && beside.idOf(beside.shown) === beside.idOf(row)
    beside?.show(isShown ? undefined : row)
    onOpen?.(row)
  }
  const before = useRef(key)
  useEffect(() => {
    if (before.current !== key) begin()
    before.current = key
  })
  const openActive = () => open(active)
  useTableKeys({ active, count, onActive: activate, onOpen: openActive, onPeek: beside && openActive })
  return (
    <>
      <NotYet query={list.query} rows={waiting} />
      {rows && count === 0 && none}
      {rows && count > 0 && (
        <VirtualTable
          {...props}
          ref={table}
          count={count}
          row={(index) => rows[index]}
          onSight={list.onSight}
          active={Math.min(active, count - 1)}
          onActive={activate}
          onPress={isPressable || beside ? open : undefined}
          isStale={list.isStale}
        />
      )}
    </>
  )
}
