/** Where something stands in a text: from code point `start` to before `end`. */
export type Place = { start: number; end: number }
export type Piece<P> = { text: string; place?: P }

/** Cut a text at places that do not overlap; a character of two code units is never cut in half. */
export function pieces<P extends Place>(text: string, places: readonly P[]): Piece<P>[] {
  const points = Array.from(text)
  const found: Piece<P>[] = []
  let at = 0
  for (const place of [...places].sort((one, other) => one.start - other.start)) {
    const start = Math.max(at, Math.min(place.start, points.length))
    const end = Math.max(start, Math.min(place.end, points.length))
    if (start > at) found.push({ text: points.slice(at, start).join("") })
    if (end > start) found.push({ text: points.slice(start, end).join(""), place })
    at = end
  }
  if (at < points.length) found.push({ text: points.slice(at).join("") })
  return found
}
