/** A heading of the outline: its title, and how deep it is, 0 at the top. */
export type Heading = { title: string; depth: number }

/** Return the headings that stand before an item of a section, where the item before it is in another one. */
export function headingsBefore(section: string[], before: string[] | undefined): Heading[] {
  const from = section.findIndex((title, depth) => title !== before?.[depth])
  return from < 0 ? [] : section.slice(from).map((title, at) => ({ title, depth: from + at }))
}

/** Return the titles that the lines of a text say. */
export const titlesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
