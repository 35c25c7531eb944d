import { queryOptions, useQuery } from "@tanstack/react-query"
import { api, client, withEtag } from "../api/client"
import type { components } from "../api/schema"
import { m } from "../messages"
import { enterProject } from "../session/session"
import { projectKey } from "./address"

export type Project = components["schemas"]["Project"] & { etag: string }
export type ListedProject = components["schemas"]["ListedProject"]

const MOST = 20
export const PROJECTS = ["projects"]
/** The name under which a browser keeps which project it was in last. */
export const LAST = "traceline.project"

/** The project of this page; whoever reads it is in it from then on, with their role there. */
export const thisProject = () =>
  queryOptions({
    queryKey: [...PROJECTS, projectKey()],
    queryFn: async ({ signal }) => {
      const params = { path: { key: projectKey() } }
      const { data: project, etag } = await withEtag(client.GET("/api/v1/projects/{key}", { params, signal }))
      enterProject(project)
      localStorage.setItem(LAST, JSON.stringify(project.key))
      return { ...project, etag }
    },
  })

/** Return the project of this page, undefined until it is known. */
export const useProject = (): Project | undefined => useQuery(thisProject()).data

/** Return why something cannot be done here: because the project is archived, or else what `otherwise` says. */
export const useWhyNot = (otherwise: string): string => (useProject()?.archived ? m.projects.isArchived : otherwise)

/** The first projects that somebody has access to. */
export const openProjects = queryOptions({
  queryKey: [...PROJECTS, "menu"],
  queryFn: ({ signal }) =>
    api.get("/api/v1/projects", { params: { query: { archived: false, limit: MOST, sort: "name" } }, signal }),
})

/** Return where a project begins. It is another page: nothing that was read of one project is kept for the next. */
export const homeOf = (key: string) => `/p/${key}`
