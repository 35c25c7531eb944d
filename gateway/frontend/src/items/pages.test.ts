import { describe, expect, it } from "vitest"
import { PAGE_ROWS, pagesOf, position } from "./pages"

describe("pages of a list", () => {
  it("are those that hold what is in sight", () => {
    expect(pagesOf(0, 0)).toEqual([0])
    expect(pagesOf(PAGE_ROWS - 1, PAGE_ROWS)).toEqual([0, 1])
    expect(pagesOf(99_960, 99_999)).toEqual([999])
  })

  it("go on behind the page before, so that nothing is lost or repeated", () => {
    expect(position(3, { next_after: "abc" })).toEqual({ after: "abc" })
  })

  it("are jumped to by their place when the page before is not known, or was the last", () => {
    expect(position(3, undefined)).toEqual({ skip: String(3 * PAGE_ROWS) })
    expect(position(3, { next_after: null })).toEqual({ skip: String(3 * PAGE_ROWS) })
    expect(position(0, undefined)).toEqual({})
  })
})
