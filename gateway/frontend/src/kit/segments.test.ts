import { describe, expect, it } from "vitest"
import { segmentsOf } from "./segments"

const TEXTS = [
  "",
  " ",
  "Doors close.",
  "All doors close before departure.",
  "a\n\nb",
  "<b>x</b> &amp; \u{1F600}\u{1F680}",
  "見出しが変わる",
]

describe("a word diff", () => {
  it.each(TEXTS.flatMap((before) => TEXTS.map((after): [string, string] => [before, after])))(
    "of %j and %j holds both texts",
    (before, after) => {
      const segments = segmentsOf(before, after)
      const text = (left: string) =>
        segments
          .filter(({ op }) => op !== left)
          .map((one) => one.text)
          .join("")
      expect([text("insert"), text("delete")]).toEqual([before, after])
    },
  )
})
