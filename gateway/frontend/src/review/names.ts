import { m } from "../messages"
import type { Pair } from "./queue"

const LONGEST = 40

/** Return what a pair is called in a sentence. */
export function nameOf({ requirement, test_case: testCase }: Pair): string {
  return m.review.pair(short(requirement), short(testCase))
}

function short({ external_id: externalId, title }: Pair["requirement"]): string {
  const letters = Array.from(title)
  return externalId ?? (letters.length > LONGEST ? `${letters.slice(0, LONGEST).join("")}…` : title)
}
