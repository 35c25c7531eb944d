import { expect, test } from "vitest"
import type { ModuleVerdicts } from "./queries"
import { fitted, layTiles, stepOf } from "./tiles"

const of = (module: string, total: number, passed = 0) =>
  ({ module, total_requirements: total, suspect_links: 1, requirements: { passed, failed: 0 } }) as ModuleVerdicts

test("areas are in proportion to requirements, and fill the map", () => {
  const [large, small] = layTiles([of("small", 10), of("large", 40)], 500, 400)
  expect([large?.module, small?.module]).toEqual(["large", "small"])
  const area = (tile: typeof large) => (tile ? tile.width * tile.height : 0)
  expect(area(large) / area(small)).toBeCloseTo(4, 0)
})

test("very many modules lose no requirement: the smallest are one tile", () => {
  const tiles = layTiles(
    Array.from({ length: 200 }, (_, place) => of(`m${place}`, place + 1, 1)),
    900,
    500,
  )
  expect(tiles.length).toBe(60)
  expect(tiles.reduce((sum, { all }) => sum + all, 0)).toBe((200 * 201) / 2)
  expect(tiles.find(({ module }) => module === undefined)?.modules).toBe(141)
})

test("only none and all are the ends of the colours", () => {
  expect([0, 0.01, 0.5, 0.99, 1].map(stepOf)).toEqual([0, 1, 2, 3, 4])
})

test("a name is cut where it has no room, and left out where nothing of it could be read", () => {
  expect([fitted("Doors", 100), fitted("Operations Console", 60), fitted("Operations", 20)]).toEqual([
    "Doors",
    "Operati…",
    "",
  ])
})
