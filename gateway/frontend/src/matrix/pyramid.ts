import { COUNTS_AS, COVERED, type Matrix, PENDING, type Sparse, type State, SUSPECT } from "./decode"

/** The matrix in blocks of 2^shift x 2^shift cells; the state of one is what `lookOf` gives. */
export type Level = Sparse & { shift: number }
/** The same, with a tally of each block, the empty ones too. */
export type Tallied = { shift: number; rows: number; columns: number; tallies: Uint32Array }

const FIRST_SHIFT = 3
const MOST_BLOCKS = 4_000_000
const SMALLEST = 64
/** How many strengths of a colour there are. */
export const STRENGTHS = 8

// A tally counts three states in one number: 12 bits for covered, 10 for suspect, 10 for pending. Each stops at its most.
const ONE = [0, 1, 1 << 12, 1 << 22]
const MASK = [0, 0xfff, 0x3ff << 12, (0x3ff << 22) >>> 0]

/** Return a tally with one more cell that counts as this state. */
export function withOne(tally: number, state: number): number {
  const mask = MASK[state] as number
  return (tally & mask) >>> 0 === mask ? tally : tally + (ONE[state] as number)
}

export const coveredOf = (tally: number) => tally & 0xfff
export const suspectOf = (tally: number) => (tally >>> 12) & 0x3ff
export const pendingOf = (tally: number) => tally >>> 22

function sum(one: number, other: number): number {
  if (one === 0) return other
  if (other === 0) return one
  const covered = Math.min(coveredOf(one) + coveredOf(other), 0xfff)
  const suspect = Math.min(suspectOf(one) + suspectOf(other), 0x3ff)
  const pending = Math.min(pendingOf(one) + pendingOf(other), 0x3ff)
  return covered + suspect * (ONE[SUSPECT] as number) + pending * (ONE[PENDING] as number)
}

/** Return what a block counts as: suspect from one cell in eight on, pending where most of it is, else covered. */
export function stateOf(tally: number): State {
  if (tally === 0) return 0
  const suspect = suspectOf(tally)
  const pending = pendingOf(tally)
  const all = coveredOf(tally) + suspect + pending
  if (suspect * 8 >= all) return SUSPECT
  return pending * 2 > all ? PENDING : COVERED
}

/** Return how much is in a block: 1 for one cell, one more for each doubling, 8 at most. */
function strengthOf(tally: number): number {
  return Math.min(STRENGTHS, 32 - Math.clz32(coveredOf(tally) + suspectOf(tally) + pendingOf(tally)))
}

/** Return where in a ramp of colours a block is: by what it counts as, and by how much is in it. */
export const lookOf = (tally: number) => rampAt(stateOf(tally), strengthOf(tally))
export const rampAt = (state: State, strength: number) => state * (STRENGTHS + 1) + strength

/** Return the matrix in ever coarser blocks, the finest first. */
export const pyramidOf = (matrix: Matrix): Level[] => talliesOf(matrix).map(sparse)

/** Leave out the empty blocks, which are most: a frame looks at all of them that are in sight. */
function sparse({ shift, rows, columns, tallies }: Tallied): Level {
  const count = tallies.reduce((sum, tally) => sum + (tally && 1), 0)
  const [offsets, columnOf, states] = [new Uint32Array(rows + 1), new Uint32Array(count), new Uint8Array(count)]
  for (let row = 0, at = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const tally = tallies[row * columns + column] as number
      if (tally === 0) continue
      columnOf[at] = column
      states[at++] = lookOf(tally)
    }
    offsets[row + 1] = at
  }
  return { shift, rows, columns, offsets, columnOf, states }
}

/** Return the tallies of the matrix in ever coarser blocks, the finest first. */
export function talliesOf(matrix: Matrix): Tallied[] {
  let level = finest(matrix)
  const levels = [level]
  while (Math.max(level.rows, level.columns) > SMALLEST) {
    level = coarser(level)
    levels.push(level)
  }
  return levels
}

function finest({ shows, rows, columns, offsets, columnOf, states }: Matrix): Tallied {
  const blocks = (length: number, shift: number) => Math.ceil(length / 2 ** shift)
  let shift = FIRST_SHIFT
  while (blocks(rows, shift) * blocks(columns, shift) > MOST_BLOCKS) shift++
  const width = blocks(columns, shift)
  const tallies = new Uint32Array(blocks(rows, shift) * width)
  const countsAs = COUNTS_AS[shows]
  for (let row = 0; row < rows; row++) {
    const start = (row >>> shift) * width
    const end = offsets[row + 1] as number
    for (let at = offsets[row] as number; at < end; at++) {
      const block = start + ((columnOf[at] as number) >>> shift)
      tallies[block] = withOne(tallies[block] as number, countsAs[states[at] as number] as State)
    }
  }
  return { shift, rows: blocks(rows, shift), columns: width, tallies }
}

function coarser({ shift, rows, columns, tallies }: Tallied): Tallied {
  const width = Math.ceil(columns / 2)
  const sums = new Uint32Array(Math.ceil(rows / 2) * width)
  for (let row = 0, at = 0; row < rows; row++) {
    const start = (row >>> 1) * width
    for (let column = 0; column < columns; column++, at++) {
      const tally = tallies[at] as number
      if (tally !== 0) sums[start + (column >>> 1)] = sum(tally, sums[start + (column >>> 1)] as number)
    }
  }
  return { shift: shift + 1, rows: Math.ceil(rows / 2), columns: width, tallies: sums }
}
