import * as v from "valibot"
import { describe, expect, it } from "vitest"
import { type Alternative, changed, parseAlternatives, parseQuery, writeAlternatives } from "./url"

describe("a filter in the address", () => {
  it.each<[string, Alternative[]]>([
    ["draft", [{ value: "draft", not: false }]],
    [
      "draft,!closed",
      [
        { value: "draft", not: false },
        { value: "closed", not: true },
      ],
    ],
    [
      '"Doors, left",!" x"',
      [
        { value: "Doors, left", not: false },
        { value: " x", not: true },
      ],
    ],
    ['"say ""hi"", twice"', [{ value: 'say "hi", twice', not: false }]],
    ['""', [{ value: "", not: false }]],
    ['"!x"', [{ value: "!x", not: false }]],
  ])("reads %s and writes it again", (text, alternatives) => {
    expect(parseAlternatives(text)).toEqual(alternatives)
    expect(writeAlternatives(alternatives)).toBe(text)
  })

  it.each(["a b", "Zahlung, Käse & Co", '"', '""', ",", " ", "!", "a!b", '!"a', "=?&#%+", "\u{1F600}", "a\nb"])(
    "brings %j through the address as it is",
    (value) => {
      const alternatives = [
        { value, not: true },
        { value: "other", not: false },
      ]
      const search = changed("", { module: writeAlternatives(alternatives) })
      const read = parseQuery(search, { module: v.optional(v.string()) }).module
      expect(parseAlternatives(read)).toEqual(alternatives)
    },
  )

  it.each([undefined, "", ",", '"open', '"a"b', "!"])("takes nothing from %j that says nothing", (text) => {
    expect(parseAlternatives(text).every(({ value }) => value !== "")).toBe(true)
  })

  it("is left out when nothing is asked for", () => {
    expect(writeAlternatives([])).toBeUndefined()
    expect(changed("?module=x&sort=title", { module: undefined })).toBe("sort=title")
  })
})

describe("the query of an address", () => {
  const FIELDS = { sort: v.optional(v.picklist(["title", "id"])), page: v.optional(v.string()) }

  it("counts a value that its schema refuses as left out", () => {
    expect(parseQuery("?sort=nonsense&page=2", FIELDS)).toEqual({ sort: undefined, page: "2" })
  })

  it("keeps what its schemas do not name", () => {
    expect(changed("?utm=x", { sort: "title:desc" })).toBe("utm=x&sort=title:desc")
  })
})
