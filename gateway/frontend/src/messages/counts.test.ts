import { expect, it } from "vitest"

const WORDS = import.meta.glob("./en/*.ts", { eager: true })
/** One of something that is said of several: "1 changes", "1 of 1 rules", "1 pending links", "1 were". */
const SEVERAL =
  /(?<![\d.,])1 (?:(?!is |was |has |of the )[a-z]+ ){0,2}?(?:(?!is|was|has|this|as|its|does|s\b)[a-z]+s|are|were|have|match|stay)\b/
type Text = (...args: unknown[]) => unknown
/** Verbs of one: "1 suggestion waits" is right. */
const OF_ONE = /1 (?:[a-z]+ )*?(?:matches|holds|stops|signs|becomes|scores|lacks|stays|waits|counts|exports)\b/

function* said(of: unknown, name: string): Generator<[string, string]> {
  if (typeof of === "string") yield [name, of]
  else if (typeof of === "function") yield* said(spoken(of as Text), name)
  else if (of && typeof of === "object")
    for (const [key, value] of Object.entries(of)) yield* said(value, `${name}.${key}`)
}

/** Return what a text says of one of each: a number, and a word where it takes no number. */
function spoken(text: Text): unknown {
  try {
    return text(1, 1, 1, 1)
  } catch {
    return text("one", "one", "one", "one")
  }
}

const TEXTS = Object.entries(WORDS).flatMap(([file, texts]) => [...said(texts, file)])

it("says one of a thing, not one of several", () => {
  expect(TEXTS.length).toBeGreaterThan(900)
  expect(TEXTS.filter(([, text]) => SEVERAL.test(text) && !OF_ONE.test(text))).toEqual([])
})

it.each(["Changed: 1 changes", "1 of 1 rules hold", "1 pending links", "1 were left", "All 1 that match"])(
  "%s is found",
  (text) => {
    expect(SEVERAL.test(text)).toBe(true)
  },
)
