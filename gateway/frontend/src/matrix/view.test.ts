import { describe, expect, it } from "vitest"
import { cellAt, clamped, fitting, framing, inSight, LARGEST, moved, showing, zoomed } from "./view"

const AREA = { width: 800, height: 600 }
const LARGE = { rows: 10_000, columns: 10_000 }

describe("the view", () => {
  it("keeps what is at a point there when cells become larger or smaller", () => {
    const before = { row: 5000.25, column: 4000.5, size: 10 }
    for (const factor of [0.5, 0.9, 1.1, 2]) {
      const after = zoomed(before, factor, 123, 456, AREA, LARGE)
      expect(after.column + 123 / after.size).toBeCloseTo(before.column + 12.3, 6)
      expect(after.row + 456 / after.size).toBeCloseTo(before.row + 45.6, 6)
    }
  })

  it("stays inside the matrix, and is never smaller than all of it", () => {
    expect(clamped({ row: -3, column: 1e9, size: 1000 }, AREA, LARGE)).toEqual({ row: 0, column: 9975, size: LARGEST })
    expect(clamped({ row: 9, column: 9, size: 0 }, AREA, LARGE).size).toBe(fitting(AREA, LARGE))
    expect(clamped({ row: 9, column: 9, size: 12 }, AREA, { rows: 4, columns: 3 })).toMatchObject({ row: 0, column: 0 })
  })

  it("moves no further than is needed to show a cell", () => {
    const view = { row: 100, column: 100, size: 10 }
    expect(showing(view, { row: 120, column: 120 }, AREA, LARGE)).toEqual(view)
    for (const cell of [
      { row: 0, column: 0 },
      { row: 9999, column: 9999 },
      { row: 99, column: 180 },
    ]) {
      const { rows, columns } = inSight(showing(view, cell, AREA, LARGE), AREA, LARGE)
      expect([
        rows.from <= cell.row && cell.row < rows.to,
        columns.from <= cell.column && cell.column < columns.to,
      ]).toEqual([true, true])
    }
  })

  it("frames some rows and columns", () => {
    const view = framing({ from: 50, to: 110 }, { from: 200, to: 240 }, AREA, LARGE)
    expect(view).toEqual({ row: 50, column: 200, size: 10 })
    expect(inSight(view, AREA, LARGE)).toEqual({ rows: { from: 50, to: 110 }, columns: { from: 200, to: 280 } })
  })

  it("tells the cell at a point, and none beside the matrix", () => {
    const view = { row: 0, column: 0, size: 20 }
    expect(cellAt(view, 59, 20, { rows: 2, columns: 3 })).toEqual({ row: 1, column: 2 })
    expect(cellAt(view, 60, 20, { rows: 2, columns: 3 })).toBeUndefined()
  })
})

describe("a key", () => {
  const extent = { rows: 30, columns: 20 }
  it.each([
    ["ArrowDown", false, 6, 5],
    ["ArrowRight", true, 5, 15],
    ["ArrowUp", true, 0, 5],
    ["Home", false, 5, 0],
    ["End", false, 5, 19],
    ["Home", true, 0, 0],
    ["End", true, 29, 19],
    ["PageDown", false, 17, 5],
    ["PageUp", false, 0, 5],
  ])("%s (far: %s) leads to %i, %i", (key, isFar, row, column) => {
    expect(moved({ row: 5, column: 5 }, key, isFar, 12, extent)).toEqual({ row, column })
  })

  it("that moves nothing leads nowhere", () => {
    expect(moved({ row: 5, column: 5 }, "a", false, 12, extent)).toBeUndefined()
  })
})
