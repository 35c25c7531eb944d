/** What a person has said of a step, or of a whole test case. */
export const MARKS = ["passed", "failed", "blocked", "skipped"] as const
export type Mark = (typeof MARKS)[number]

/** What is known of a test case that somebody runs: of each step how it ended, and what was recorded last. */
export type Run = { marks: (Mark | undefined)[]; step: number; note: string; recorded?: Mark }

const MOST_NOTES = 4000

/** Return a run of a test case with so many steps that has not begun; one without steps is marked as a whole. */
export const newRun = (steps: number): Run => ({ marks: Array(Math.max(1, steps)).fill(undefined), step: 0, note: "" })

/** Return the run with its step marked, at the next step then. */
export function marked(run: Run, mark: Mark): Run {
  const marks = run.marks.with(run.step, mark)
  return { ...run, marks, step: Math.min(run.step + 1, marks.length - 1) }
}

/** Return the run at another step. */
export const moved = (run: Run, by: number): Run => ({
  ...run,
  step: Math.max(0, Math.min(run.step + by, run.marks.length - 1)),
})

/**
 * Return what a test case comes to by its steps; undefined while they do not say it.
 *
 * One that failed or is blocked says it whatever comes behind it. Nothing has passed of which a step was not looked at.
 */
export function resultOf({ marks }: Run): Mark | undefined {
  if (marks.includes("failed")) return "failed"
  if (marks.includes("blocked")) return "blocked"
  if (marks.includes(undefined)) return undefined
  return marks.includes("skipped") ? "skipped" : "passed"
}

/** Return what is recorded beside the result: the note, and a line for each step that has not passed. */
export function notesOf(run: Run, steps: string[], say: (step: number, mark: Mark, text: string) => string): string {
  const lines = run.marks.flatMap((mark, place) => {
    const text = steps[place]
    return mark && mark !== "passed" && text !== undefined ? [say(place + 1, mark, text)] : []
  })
  return [run.note.trim(), ...lines].filter(Boolean).join("\n").slice(0, MOST_NOTES)
}

/** Return the place of the next test case without a result, from behind `at` round to it; undefined: each has one. */
export function nextOpen(ids: string[], runs: Record<string, Run>, at: number): number | undefined {
  const places = ids.map((_, step) => (at + 1 + step) % ids.length)
  return places.find((place) => !runs[ids[place] ?? ""]?.recorded)
}
