import { m } from "../messages"
import type { Pair } from "./queue"

const LONGEST = 40

/** Return what a pair, with its variants, is called in a sentence. */
export function nameOf({ requirement, test_case: testCase, variants }: Pair): string {
  const name = m.review.pair(short(requirement), short(testCase))
  return variants?.length ? m.review.withVariants(name, variants.length) : name
}

/** Return what an item is called in a sentence. */
export function short({ external_id: externalId, title }: Pair["requirement"]): string {
  const letters = Array.from(title)
  return externalId ?? (letters.length > LONGEST ? `${letters.slice(0, LONGEST).join("")}…` : title)
}
