import type { Cell } from "./decode"

/** What is in sight: the cell at the top left corner (with fractions), and the pixels of a cell. */
export type View = { row: number; column: number; size: number }
export type Area = { width: number; height: number }
type Extent = { rows: number; columns: number }
/** Indexes from `from` to before `to`. */
export type Range = { from: number; to: number }

export const LARGEST = 32
const SMALLEST_ACROSS = 1

/** Return how large a cell is when all of them are in sight; never larger than is pleasant. */
export function fitting(area: Area, { rows, columns }: Extent): number {
  return Math.min(area.width / Math.max(columns, 1), area.height / Math.max(rows, 1), LARGEST)
}

/** Return the view with its size and its place inside what there is. */
export function clamped(view: View, area: Area, extent: Extent): View {
  const size = Math.min(LARGEST, Math.max(view.size, Math.min(fitting(area, extent), SMALLEST_ACROSS)))
  const most = (length: number, pixels: number) => Math.max(0, length - pixels / size)
  return {
    size,
    row: Math.min(Math.max(0, view.row), most(extent.rows, area.height)),
    column: Math.min(Math.max(0, view.column), most(extent.columns, area.width)),
  }
}

/** Return the view with cells `factor` times as large, and what is at a point still there. */
export function zoomed(view: View, factor: number, x: number, y: number, area: Area, extent: Extent): View {
  const size = clamped({ ...view, size: view.size * factor }, area, extent).size
  return clamped(
    { size, row: view.row + y / view.size - y / size, column: view.column + x / view.size - x / size },
    area,
    extent,
  )
}

/** Return the view moved as little as is needed to have a cell in sight. */
export function showing(view: View, { row, column }: Cell, area: Area, extent: Extent): View {
  const near = (first: number, index: number, pixels: number) => {
    const inSight = pixels / view.size
    const margin = Math.min(1, Math.max(0, (inSight - 1) / 2))
    return Math.min(Math.max(first, index + 1 + margin - inSight), index - margin)
  }
  return clamped(
    { ...view, row: near(view.row, row, area.height), column: near(view.column, column, area.width) },
    area,
    extent,
  )
}

/** Return the view of some rows and columns, as large as it can be. */
export function framing(rows: Range, columns: Range, area: Area, extent: Extent): View {
  const size = fitting(area, { rows: rows.to - rows.from, columns: columns.to - columns.from })
  return clamped({ size, row: rows.from, column: columns.from }, area, extent)
}

/** Return the rows and columns of which something is in sight. */
export function inSight({ row, column, size }: View, area: Area, extent: Extent): { rows: Range; columns: Range } {
  return {
    rows: { from: Math.floor(row), to: Math.min(extent.rows, Math.ceil(row + area.height / size)) },
    columns: { from: Math.floor(column), to: Math.min(extent.columns, Math.ceil(column + area.width / size)) },
  }
}

/** Return the cell at a point; undefined beside the matrix. */
export function cellAt(view: View, x: number, y: number, { rows, columns }: Extent): Cell | undefined {
  const row = Math.floor(view.row + y / view.size)
  const column = Math.floor(view.column + x / view.size)
  return row >= 0 && row < rows && column >= 0 && column < columns ? { row, column } : undefined
}

/** Return where a key of movement leads; undefined when it is none. */
export function moved({ row, column }: Cell, key: string, isFar: boolean, page: number, extent: Extent) {
  const step = isFar ? 10 : 1
  const moves: Record<string, Cell> = {
    ArrowUp: { row: row - step, column },
    ArrowDown: { row: row + step, column },
    ArrowLeft: { row, column: column - step },
    ArrowRight: { row, column: column + step },
    PageUp: { row: row - page, column },
    PageDown: { row: row + page, column },
    Home: isFar ? { row: 0, column: 0 } : { row, column: 0 },
    End: isFar ? { row: extent.rows - 1, column: extent.columns - 1 } : { row, column: extent.columns - 1 },
  }
  const to = moves[key]
  return to && within(to, extent)
}

/** Return the cell that is nearest to this one and there. */
export function within({ row, column }: Cell, { rows, columns }: Extent): Cell {
  return {
    row: Math.max(0, Math.min(row, rows - 1)),
    column: Math.max(0, Math.min(column, columns - 1)),
  }
}
