/** Fields of a project: in lists and forms. */
export const fields = {
  yes: "Yes",
  no: "No",
  none: "–",
  other: "Field",
  dateHint: "Such as 2026-01-31",
}
