/** Write names as people change them, commas between them: nothing for null, and a dash where there are none at all. */
export const writeNames = (names: readonly string[] | null | undefined) =>
  names == null ? "" : names.length > 0 ? names.join(", ") : "-"

/** Read such names; what is wrong with one the API says. */
export function readNames(text: string): string[] | null {
  const names = text.split(/[,\n]/).flatMap((name) => name.trim() || [])
  return names.length === 0 ? null : names.length === 1 && names[0] === "-" ? [] : names
}
