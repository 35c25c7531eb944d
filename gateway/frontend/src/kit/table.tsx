// biome-ignore-all lint/a11y/useSemanticElements: a table element cannot hold rows that are placed by their index
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and names its active row
// biome-ignore-all lint/a11y/noStaticElementInteractions: its role is that of a grid or of a tree of rows
// biome-ignore-all lint/a11y/useAriaPropsSupportedByRole: both roles have them
import { useVirtualizer } from "@tanstack/react-virtual"
import { memo, type ReactNode, type Ref, useEffect, useId, useImperativeHandle, useMemo, useRef, useState } from "react"
import { usePreferences } from "../shell/preferences"
import css from "./table.module.css"

export type Column<Row> = {
  id: string
  label: string
  /** Pixels; a column with `grow` takes what is left: others go before it has less, but where nothing else can. */
  width: number
  grow?: boolean
  isNumber?: boolean
  /** Where there is no room for all, those with the greatest rank are not shown. */
  rank?: number
  /** The field that the server sorts by; without it the header is no button. */
  sort?: string
  /** Whether the first click sorts from the greatest on. */
  isDescendingFirst?: boolean
  cell: (row: Row) => ReactNode
}

export type Sort = { field: string; descending: boolean }
/** Read the order, `field` or `field:desc`. */
export function parseSort(sort: string | undefined): Sort | undefined {
  const [field, direction] = sort?.split(":") ?? []
  return field ? { field, descending: direction === "desc" } : undefined
}

/** Write the order as the API reads it. */
export const writeSort = ({ field, descending }: Sort): string => (descending ? `${field}:desc` : `${field}:asc`)

export type Table = { focus: () => void; scrollTo: (index: number) => void }

/** A place in a tree: its level from 1 on, whether what is below it is shown (if anything is), its place of how many. */
export type Place = { level: number; isOpen: boolean | undefined; position: number; size: number }

type Selection<Row> = {
  has: (row: Row) => boolean
  /** Everything is selected, shown or not. */
  isAll: boolean
  toggle: (index: number) => void
  /** Select from the active row to this one. */
  extendTo: (index: number) => void
  toggleAll: () => void
  labelOfAll: string
  labelOf: (row: Row) => string
}

export type TableProps<Row> = {
  label: string
  columns: Column<Row>[]
  count: number
  /** The row at an index; undefined while it is on its way. */
  row: (index: number) => Row | undefined
  /** Where a row stands in a tree, which the table then is. */
  placeOf?: (row: Row) => Place
  /** Called with the first and the last index in sight. */
  onSight: (first: number, last: number) => void
  active: number
  onActive: (index: number) => void
  /** Called by a click, not on what does something itself. */
  onPress?: (index: number) => void
  onEdit?: (index: number, column: string | undefined) => void
  /** The row that is edited in place, and its editor. */
  editor?: { index: number; content: (columns: Column<Row>[]) => ReactNode }
  sort?: Sort
  onSort?: (sort: Sort) => void
  selection?: Selection<Row>
  /** Whether what is shown is about to be replaced. */
  isStale?: boolean
  offset?: number
  onOffset?: (offset: number) => void
  ref?: Ref<Table>
}

const ROWS = { comfortable: 36, compact: 28 }
const OVERSCAN = 4
const NARROWEST = 140
const SELECT_WIDTH = 36
const ENDS = 32

/** Rows in thousands: only those in sight are in the document. Its keys are the screen's (see `useShortcuts`). */
export function VirtualTable<Row>(props: TableProps<Row>) {
  const { count, active, selection, sort, onSort, onSight, onOffset, ref } = props
  const scroller = useRef<HTMLDivElement>(null)
  const id = useId()
  const size = ROWS[usePreferences().density]
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => size,
    overscan: OVERSCAN,
    useFlushSync: false,
    initialOffset: props.offset ?? 0,
    onChange: ({ scrollOffset }) => onOffset?.(scrollOffset ?? 0),
  })
  const items = virtualizer.getVirtualItems()
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0]
  useEffect(() => virtualizer.measure(), [virtualizer, size])
  useEffect(() => onSight(first, last), [onSight, first, last])
  useImperativeHandle(ref, () => ({
    focus: () => scroller.current?.focus({ preventScroll: true }),
    scrollTo: (index) => virtualizer.scrollToIndex(index),
  }))
  const width = useWidth(scroller)
  const taken = ENDS + (selection ? SELECT_WIDTH : 0)
  const columns = useMemo(() => fitting(props.columns, width, taken), [props.columns, width, taken])
  const template = [selection ? `${SELECT_WIDTH}px` : "", ...columns.map(widthOf)].join(" ")
  const isActiveThere = items.some(({ index }) => index === active)
  return (
    <div
      ref={scroller}
      className={css.table}
      role={props.placeOf ? "treegrid" : "grid"}
      tabIndex={0}
      aria-label={props.label}
      aria-rowcount={count + 1}
      aria-multiselectable={selection ? true : undefined}
      aria-activedescendant={isActiveThere ? `${id}${active}` : undefined}
      aria-busy={props.isStale || undefined}
      style={{ "--columns": template }}
      onClick={(event) => press(event.target as HTMLElement, event.shiftKey, props)}
      onKeyDown={(event) => {
        const index = event.target === scroller.current && leap(event.key, active, count, last - first - 2 * OVERSCAN)
        if (typeof index !== "number") return
        event.preventDefault()
        props.onActive(index)
      }}
      onDoubleClick={(event) => edit(event.target as HTMLElement, props)}
    >
      <div className={css.head} role="row" aria-rowindex={1}>
        {selection && (
          <span role="columnheader">
            <input
              type="checkbox"
              tabIndex={-1}
              checked={selection.isAll}
              onChange={selection.toggleAll}
              aria-label={selection.labelOfAll}
            />
          </span>
        )}
        {columns.map((column) => (
          <Header key={column.id} column={column} sort={sort} onSort={onSort} />
        ))}
      </div>
      <div className={css.body} role="rowgroup" style={{ blockSize: virtualizer.getTotalSize() }}>
        {items.map(({ index, start }) => (
          <TableRow
            key={index}
            id={`${id}${index}`}
            index={index}
            start={start}
            row={props.row(index)}
            placeOf={props.placeOf}
            columns={columns}
            isActive={index === active}
            isSelected={isSelected(selection, props.row(index))}
            isFixed={selection?.isAll ?? false}
            labelOf={selection?.labelOf}
            editor={props.editor?.index === index ? props.editor.content(columns) : undefined}
          />
        ))}
      </div>
    </div>
  )
}

type RowProps<Row> = {
  id: string
  index: number
  start: number
  row: Row | undefined
  columns: Column<Row>[]
  isActive: boolean
  isSelected: boolean | undefined
  isFixed: boolean
  labelOf: ((row: Row) => string) | undefined
  placeOf: ((row: Row) => Place) | undefined
  /** Its cells while it is edited. */
  editor: ReactNode
}

const TableRow = memo(function TableRow<Row>({
  id,
  index,
  start,
  row,
  columns,
  editor,
  placeOf,
  ...is
}: RowProps<Row>) {
  const place = row && placeOf?.(row)
  return (
    <div
      id={id}
      role="row"
      className={css.row}
      data-index={index}
      data-active={is.isActive || undefined}
      aria-rowindex={index + 2}
      aria-selected={is.isSelected}
      aria-level={place?.level}
      aria-expanded={place?.isOpen}
      aria-posinset={place?.position}
      aria-setsize={place?.size}
      aria-busy={row ? undefined : true}
      style={{ transform: `translateY(${start}px)` }}
    >
      {is.isSelected !== undefined && (
        <span role="gridcell">
          <input
            type="checkbox"
            tabIndex={-1}
            checked={is.isSelected}
            disabled={is.isFixed || !row}
            data-select=""
            readOnly
            aria-label={row && is.labelOf?.(row)}
          />
        </span>
      )}
      {editor ??
        columns.map((column) => (
          <span key={column.id} role="gridcell" data-column={column.id} data-number={column.isNumber || undefined}>
            {row ? column.cell(row) : <i className={css.coming} />}
          </span>
        ))}
    </div>
  )
}) as <Row>(props: RowProps<Row>) => ReactNode

function isSelected<Row>(selection: Selection<Row> | undefined, row: Row | undefined): boolean | undefined {
  return selection && (selection.isAll || (row !== undefined && selection.has(row)))
}

function Header<Row>({ column, sort, onSort }: { column: Column<Row> } & Pick<TableProps<Row>, "sort" | "onSort">) {
  const { sort: field, label } = column
  const isSorted = field !== undefined && sort?.field === field
  const direction = sort?.descending ? "descending" : "ascending"
  return (
    <span role="columnheader" data-number={column.isNumber || undefined} aria-sort={isSorted ? direction : undefined}>
      {field && onSort ? (
        <button
          type="button"
          onClick={() =>
            onSort({ field, descending: isSorted ? !sort?.descending : Boolean(column.isDescendingFirst) })
          }
        >
          {label}
          <i aria-hidden="true">{isSorted ? (sort?.descending ? "↓" : "↑") : ""}</i>
        </button>
      ) : (
        label
      )}
    </span>
  )
}

/** Return the columns that there is room for, those with the smallest rank at least. */
export function fitting<C extends { width: number; rank?: number }>(columns: C[], width: number, taken: number): C[] {
  const kept = [...columns].sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
  const needed = () => kept.reduce((sum, column) => sum + column.width, taken)
  while (width > 0 && needed() > width && (kept.at(-1)?.rank ?? 0) > 0) kept.pop()
  return columns.filter((column) => kept.includes(column))
}

function widthOf<Row>({ width, grow }: Column<Row>): string {
  return grow ? `minmax(${Math.min(width, NARROWEST)}px, 1fr)` : `${width}px`
}

function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (!element.current) return
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return width
}

/** Return where a key leads that goes further than to the next row. */
function leap(key: string, active: number, count: number, page: number): number | undefined {
  const end = count - 1
  if (key === "Home") return 0
  if (key === "End") return end
  if (key === "PageUp") return Math.max(0, active - page)
  if (key === "PageDown") return Math.min(end, active + page)
  return undefined
}

function press<Row>(target: HTMLElement, isRange: boolean, { onActive, onPress, selection }: TableProps<Row>): void {
  const index = indexOf(target)
  if (index === undefined) return
  if (isRange && selection) {
    selection.extendTo(index)
    return
  }
  onActive(index)
  if (target.matches("[data-select]")) selection?.toggle(index)
  else if (!target.closest("a, button, input, select, textarea")) onPress?.(index)
}

function edit<Row>(target: HTMLElement, { onEdit }: TableProps<Row>): void {
  const index = indexOf(target)
  const column = target.closest<HTMLElement>("[data-column]")?.dataset.column
  if (index !== undefined && !target.closest("a, input, select, textarea")) onEdit?.(index, column)
}

function indexOf(target: HTMLElement): number | undefined {
  const index = target.closest<HTMLElement>("[data-index]")?.dataset.index
  return index === undefined ? undefined : Number(index)
}
