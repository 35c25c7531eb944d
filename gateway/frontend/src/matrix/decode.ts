/** What cells show: links and what waits for a review, or what results say of links. */
export type Shows = "links" | "results"
/** What a cell is, 0 an empty one: of links covered, suspect, pending; of results passed, stale, flaky, failed, skipped, not run. */
export type State = number
export const COVERED = 1
export const SUSPECT = 2
export const PENDING = 3

/** By state, as which of three it counts where a cell has no room of its own: good, bad, or neither. */
export const COUNTS_AS: Record<Shows, number[]> = { links: [0, 1, 2, 3], results: [0, 1, 3, 2, 2, 3, 3] }
/** The state that each of these three is shown as. */
export const SHOWN_AS: Record<Shows, State[]> = { links: [0, COVERED, SUSPECT, PENDING], results: [0, 1, 4, 6] }

export type Cell = { row: number; column: number }

/** Cells that are not empty, row by row: those of row r are from offsets[r] to before offsets[r + 1]. */
export type Sparse = {
  rows: number
  columns: number
  offsets: Uint32Array
  /** The column of each cell, ascending in each row. */
  columnOf: Uint32Array
  states: Uint8Array
}

export type Matrix = Sparse & {
  shows: Shows
  /** How many rows before each have no link. */
  gapsBefore: Uint32Array
}

const MAGIC = 0x314d4c54 // TLM1
const HEAD_BYTES = 16

/** Read `application/vnd.traceline.matrix`; what is not of that form, or is cut off, is a RangeError. */
export function decode(document: ArrayBuffer, shows: Shows = "links"): Matrix {
  if (document.byteLength < HEAD_BYTES) throw new RangeError("The matrix has no head.")
  const [magic, rows, columns, cells] = new Uint32Array(document, 0, 4) as unknown as [number, number, number, number]
  const bytes = HEAD_BYTES + 4 * (rows + 1 + cells) + cells
  if (magic !== MAGIC || document.byteLength !== bytes) throw new RangeError("This is not a matrix of the form TLM1.")
  const offsets = new Uint32Array(document, HEAD_BYTES, rows + 1)
  const columnOf = new Uint32Array(document, HEAD_BYTES + 4 * (rows + 1), cells)
  const states = new Uint8Array(document, bytes - cells, cells)
  const pending = shows === "links" ? PENDING : undefined
  return { shows, rows, columns, offsets, columnOf, states, gapsBefore: countGaps(rows, offsets, states, pending) }
}

function countGaps(rows: number, offsets: Uint32Array, states: Uint8Array, pending?: State): Uint32Array {
  const gapsBefore = new Uint32Array(rows + 1)
  for (let row = 0; row < rows; row++) {
    const end = offsets[row + 1] as number
    let at = offsets[row] as number
    while (at < end && states[at] === pending) at++
    gapsBefore[row + 1] = (gapsBefore[row] as number) + (at === end ? 1 : 0)
  }
  return gapsBefore
}

/** Return where the first cell of a row is whose column is not before this one; the end of the row if there is none. */
export function firstFrom({ offsets, columnOf }: Sparse, row: number, column: number): number {
  let low = offsets[row] as number
  let high = offsets[row + 1] as number
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((columnOf[middle] as number) < column) low = middle + 1
    else high = middle
  }
  return low
}

export function stateAt(matrix: Sparse, { row, column }: Cell): State {
  const at = firstFrom(matrix, row, column)
  const isThere = at < (matrix.offsets[row + 1] as number) && matrix.columnOf[at] === column
  return isThere ? (matrix.states[at] as number) : 0
}

/** Check whether a row has no link; what only waits for a review is none. */
export function isGap({ gapsBefore }: Matrix, row: number): boolean {
  return gapsBefore[row + 1] !== gapsBefore[row]
}
