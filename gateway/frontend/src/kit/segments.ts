import { diffWordsWithSpace } from "diff"

export type Segment = { op: "equal" | "insert" | "delete"; text: string }

const LONGEST_MS = 200

/** Return how one text becomes another, word by word; a whole replacement when the comparison takes too long. */
export function segmentsOf(before: string, after: string): Segment[] {
  const changes = diffWordsWithSpace(before, after, { timeout: LONGEST_MS })
  if (!changes) return [{ op: "delete", text: before } as const, { op: "insert", text: after } as const]
  return changes.map(({ added, removed, value }) => ({
    op: added ? "insert" : removed ? "delete" : "equal",
    text: value,
  }))
}
