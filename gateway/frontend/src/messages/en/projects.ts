/** What every page may show of projects; the screens about them bring the rest. */
export const projects = {
  label: "Project",
  title: "Projects",
  all: "All projects",
  settings: "Project settings",
  archived: "Archived",
  isArchived: "This project is archived: everything can be read, and nothing changed.",
  changedMeanwhile: "Somebody has changed the project meanwhile. Look at it again.",
  gone: "There is no such project",
  goneHint: "Or you have no access to it: ask one of its admins.",
}
