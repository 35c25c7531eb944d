import { describe, expect, it } from "vitest"
import { type Cell, COVERED, decode, isGap, type Matrix, PENDING, type State, SUSPECT, stateAt } from "./decode"
import {
  coveredOf,
  lookOf,
  pendingOf,
  pyramidOf,
  stateOf,
  suspectOf,
  type Tallied,
  talliesOf,
  withOne,
} from "./pyramid"
import { nextBad, nextGap } from "./search"

/** Return the document of rows of states, as the API writes it. */
function documentOf(rows: State[][], columns = rows[0]?.length ?? 0): ArrayBuffer {
  const cells = rows.flatMap((row) => row.flatMap((state, column) => (state ? [[column, state] as const] : [])))
  const buffer = new ArrayBuffer(16 + 4 * (rows.length + 1 + cells.length) + cells.length)
  const view = new DataView(buffer)
  const numbers = [0x314d4c54, rows.length, columns, cells.length, 0]
  for (const row of rows) numbers.push((numbers.at(-1) as number) + row.filter((state) => state > 0).length)
  if (rows.length === 0) numbers.splice(4, 1, 0)
  const all = [...numbers, ...cells.map(([column]) => column)]
  all.forEach((number, place) => {
    view.setUint32(4 * place, number, true)
  })
  cells.forEach(([, state], place) => {
    view.setUint8(4 * all.length + place, state)
  })
  return buffer
}

const SMALL: State[][] = [
  [COVERED, 0, SUSPECT, 0],
  [0, 0, 0, 0],
  [0, PENDING, 0, 0],
  [SUSPECT, 0, 0, PENDING],
  [0, 0, 0, COVERED],
]

describe("a matrix in binary form", () => {
  const matrix = decode(documentOf(SMALL))

  it("has each cell as it was written", () => {
    const found = SMALL.map((row, at) => row.map((_, column) => stateAt(matrix, { row: at, column })))
    expect(found).toEqual(SMALL)
  })

  it("has a gap where no link is, and what is only suggested is no link", () => {
    expect(SMALL.map((_, row) => isGap(matrix, row))).toEqual([false, true, true, false, false])
  })

  it("may be empty", () => {
    expect(decode(documentOf([], 3))).toMatchObject({ rows: 0, columns: 3 })
  })

  it("is refused when it is cut off, or begins with another word", () => {
    const whole = documentOf(SMALL)
    for (const end of [0, 8, whole.byteLength - 1]) expect(() => decode(whole.slice(0, end))).toThrow(RangeError)
    new DataView(whole).setUint8(3, "2".charCodeAt(0))
    expect(() => decode(whole)).toThrow(RangeError)
  })
})

describe("searching", () => {
  const matrix = decode(documentOf(SMALL))

  it.each([
    [0, 1, 1],
    [1, 1, 2],
    [2, 1, 1],
    [4, -1, 2],
    [1, -1, 2],
  ] as const)("goes from row %i by %i to gap %i", (from, step, gap) => {
    expect(nextGap(matrix, from, step)).toBe(gap)
  })

  it.each([
    [0, 0, 1, 0, 2],
    [0, 2, 1, 3, 0],
    [1, 3, 1, 3, 0],
    [3, 0, 1, 0, 2],
    [4, 3, 1, 0, 2],
    [3, 0, -1, 0, 2],
    [0, 2, -1, 3, 0],
    [0, 0, -1, 3, 0],
  ] as const)("goes from %i, %i by %i to the suspect link %i, %i", (row, column, step, toRow, toColumn) => {
    expect(nextBad(matrix, { row, column }, step)).toEqual({ row: toRow, column: toColumn } satisfies Cell)
  })

  it("takes failed and flaky for bad where cells show results, and all of them for links", () => {
    const results = decode(documentOf([[1, 2, 3, 0, 4, 5, 6]]), "results")
    expect(nextBad(results, { row: 0, column: 0 }, 1)).toEqual({ row: 0, column: 2 })
    expect(nextBad(results, { row: 0, column: 0 }, -1)).toEqual({ row: 0, column: 4 })
    expect(isGap(decode(documentOf([[3]]), "results"), 0)).toBe(false)
  })

  it("finds nothing where there is nothing", () => {
    const full = decode(documentOf([[COVERED, COVERED]]))
    expect(nextGap(full, 0, 1)).toBeUndefined()
    expect(nextBad(full, { row: 0, column: 0 }, 1)).toBeUndefined()
    expect(nextBad(decode(documentOf([[0, 0]])), { row: 0, column: 0 }, -1)).toBeUndefined()
  })
})

describe("the pyramid", () => {
  const random = randomMatrix(1000, 700)
  const levels = talliesOf(random)

  it("counts each cell once at each level", () => {
    const all = [COVERED, SUSPECT, PENDING].map((state) => random.states.filter((one) => one === state).length)
    for (const level of levels)
      expect([total(level, coveredOf), total(level, suspectOf), total(level, pendingOf)]).toEqual(all)
  })

  it("counts a cell in the block that it is in", () => {
    const rows = Array.from({ length: 100 }, (): State[] => Array.from({ length: 90 }, () => 0))
    ;(rows[77] as State[])[50] = SUSPECT
    for (const { shift, columns, tallies } of talliesOf(decode(documentOf(rows)))) {
      expect(tallies.findIndex((tally) => tally > 0)).toBe((77 >> shift) * columns + (50 >> shift))
    }
  })

  it("keeps what each block counts as, and leaves the empty ones out", () => {
    const kept = pyramidOf(random)
    const looks = kept.map(({ rows, columns, ...level }) =>
      Array.from({ length: rows * columns }, (_, at) =>
        stateAt({ ...level, rows, columns }, { row: Math.floor(at / columns), column: at % columns }),
      ),
    )
    expect(looks).toEqual(levels.map(({ tallies }) => Array.from(tallies, (tally) => tally && lookOf(tally))))
    expect(kept.map(({ states }) => states.includes(0))).toEqual(kept.map(() => false))
  })

  it("begins coarser where the finest level would be too large", () => {
    const huge = { ...decode(documentOf([])), rows: 100_000, columns: 100_000, offsets: new Uint32Array(100_001) }
    expect(pyramidOf(huge)[0]).toMatchObject({ shift: 6, rows: 1563, columns: 1563 })
  })

  it("never counts from one state into another", () => {
    let tally = 0
    for (let count = 0; count < 5000; count++) tally = [COVERED, SUSPECT, PENDING].reduce(withOne, tally)
    expect([coveredOf(tally), suspectOf(tally), pendingOf(tally)]).toEqual([4095, 1023, 1023])
  })

  it.each([
    [0, 0, 0, 0],
    [8, 1, 0, COVERED],
    [7, 1, 0, SUSPECT],
    [1, 0, 1, COVERED],
    [1, 0, 2, PENDING],
  ])("shows %i covered, %i suspect and %i pending as %i", (covered, suspect, pending, state) => {
    const cells = [covered, suspect, pending].flatMap((count, at) => Array(count).fill(at + 1))
    expect(stateOf(cells.reduce(withOne, 0))).toBe(state)
  })
})

function total({ tallies }: Tallied, count: (tally: number) => number): number {
  return tallies.reduce((sum, tally) => sum + count(tally), 0)
}

function randomMatrix(rows: number, columns: number): Matrix {
  let seed = 7
  const random = () => {
    seed = (seed * 48271) % 2147483647
    return seed / 2147483647
  }
  const state = (): State => (random() < 0.02 ? ((1 + Math.floor(random() * 3)) as State) : 0)
  return decode(documentOf(Array.from({ length: rows }, () => Array.from({ length: columns }, state))))
}
