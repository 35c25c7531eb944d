import { describe, expect, it } from "vitest"
import { pieces } from "./pieces"

describe("pieces", () => {
  it("counts code points, not code units", () => {
    expect(pieces("🚪🔑 badge opens", [{ start: 3, end: 8 }]).map(({ text }) => text)).toEqual([
      "🚪🔑 ",
      "badge",
      " opens",
    ])
  })

  it("never cuts a character in half, whatever the places", () => {
    const text = "a😀b🇩🇪c𝒳"
    for (let start = 0; start < 12; start++) {
      for (let end = start; end < 12; end++) {
        const cut = pieces(text, [{ start, end }])
        expect(cut.map((piece) => piece.text).join("")).toBe(text)
        expect(cut.every((piece) => !/\p{Surrogate}/u.test(piece.text))).toBe(true)
      }
    }
  })

  it("takes places in any order, and none twice where they overlap", () => {
    const cut = pieces("valid badge", [
      { start: 6, end: 11, term: "badge" },
      { start: 0, end: 8, term: "valid" },
    ])
    expect(cut.map(({ text, place }) => [text, place?.term])).toEqual([
      ["valid ba", "valid"],
      ["dge", "badge"],
    ])
  })
})
