import { describe, expect, it } from "vitest"
import { inUnits, secondsLeft } from "./progress"

describe("the time that is left", () => {
  it("is what the rest takes at the pace of before", () => {
    expect(secondsLeft({ at: 0, share: 0 }, 10_000, 0.25)).toBe(30)
    expect(secondsLeft({ at: 0, share: 0.5 }, 10_000, 0.75)).toBe(10)
  })

  it("is not told at once, nor while nothing moves", () => {
    expect(secondsLeft({ at: 0, share: 0 }, 500, 0.2)).toBeUndefined()
    expect(secondsLeft({ at: 0, share: 0.2 }, 5000, 0.2)).toBeUndefined()
  })
})

describe("a size", () => {
  it("is in the unit that it is best read in", () => {
    expect([1, 999, 1500, 64_400_000, 1_000_000].map(inUnits)).toEqual([
      [1, "B"],
      [999, "B"],
      [1.5, "kB"],
      [64.4, "MB"],
      [1, "MB"],
    ])
  })
})
