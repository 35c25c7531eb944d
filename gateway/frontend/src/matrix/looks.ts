import type { State as Look } from "../kit/badge"
import { m } from "../messages"
import { words } from "../results/words"
import type { Shows } from "./decode"

/** What a state of a cell looks like, by its number. */
export const LOOKS: Record<Shows, Look[]> = {
  links: ["none", "covered", "suspect", "pending"],
  results: ["none", "covered", "suspect", "pending", "failed", "none", "none"],
}

const { passed, stale, flaky, failed, skipped, not_run } = words.states
/** What a state of a cell is called, by its number. */
export const NAMES: Record<Shows, string[]> = {
  links: m.matrix.states,
  results: [m.matrix.states[0], passed, stale, flaky, failed, skipped, not_run],
}
