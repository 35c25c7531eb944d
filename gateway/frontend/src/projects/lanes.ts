type Expected = { branch: string; lanes: string[] }

/** Write which lanes are expected as people change them: a branch a line, and behind it its lanes. */
export const writeLanes = (expected: readonly Expected[]) =>
  expected.map(({ branch, lanes }) => `${branch}: ${lanes.join(", ")}`).join("\n")

/** Read such lines, null where there is none; what is wrong in them the API says. */
export function readLanes(text: string): Expected[] | null {
  const expected = text.split("\n").flatMap((line) => {
    // Within the name of a branch and of a lane stands no blank behind a colon.
    const [branch = "", lanes = ""] = line.split(/:(?:\s+|$)(.*)/s, 2).map((part) => part.trim())
    return branch ? [{ branch, lanes: lanes.split(",").flatMap((lane) => lane.trim() || []) }] : []
  })
  return expected.length > 0 ? expected : null
}
