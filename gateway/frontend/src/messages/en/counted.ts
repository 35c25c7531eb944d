const rules = new Intl.PluralRules("en")
const numbers = new Intl.NumberFormat("en")

/** Return the form of a word that goes with so many: `plural(1, "link")` is "link", `plural(4, "is", "are")` "are". */
export const plural = (count: number, one: string, many = `${one}s`) => (rules.select(count) === "one" ? one : many)

/** Return the text for so many of something: "1 user", "4,000 users". */
export const counted =
  (one: string, many = `${one}s`) =>
  (count: number) =>
    `${numbers.format(count)} ${plural(count, one, many)}`

/** Return the text for some of all: "1 of 4,000 users". */
export const countedOf =
  (one: string, many = `${one}s`) =>
  (count: number, all: number) =>
    `${numbers.format(count)} of ${counted(one, many)(all)}`
