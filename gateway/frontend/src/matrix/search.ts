import { type Cell, COUNTS_AS, firstFrom, isGap, type Matrix, SUSPECT } from "./decode"

/** Return the next row without a link, or the one before; from the end on it begins again. */
export function nextGap(matrix: Matrix, from: number, step: 1 | -1): number | undefined {
  for (let tried = 1; tried <= matrix.rows; tried++) {
    const row = (from + step * tried + matrix.rows * 2) % matrix.rows
    if (isGap(matrix, row)) return row
  }
  return undefined
}

/** Return the next cell that is bad (a suspect link, a failed or flaky test case) in the order of rows, or the one before; from the end on it begins again. */
export function nextBad(matrix: Matrix, from: Cell, step: 1 | -1): Cell | undefined {
  const { offsets, columnOf, states, shows } = matrix
  const cells = states.length
  const start = step === 1 ? firstFrom(matrix, from.row, from.column + 1) : firstFrom(matrix, from.row, from.column) - 1
  for (let tried = 0; tried < cells; tried++) {
    const at = (start + step * tried + cells * 2) % cells
    if (COUNTS_AS[shows][states[at] as number] === SUSPECT)
      return { row: rowOf(offsets, at), column: columnOf[at] as number }
  }
  return undefined
}

function rowOf(offsets: Uint32Array, at: number): number {
  let low = 0
  let high = offsets.length - 2
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((offsets[middle] as number) <= at) low = middle
    else high = middle - 1
  }
  return low
}
