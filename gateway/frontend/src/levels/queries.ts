import { queryOptions } from "@tanstack/react-query"
import { api } from "../api/client"
import type { components } from "../api/schema"

type Schemas = components["schemas"]
export type TreeRow = Schemas["TreeRow"]
export type TreePage = Schemas["TraceTree"]
export type Related = Schemas["RelatedRequirement"]
export type Impact = Schemas["Impact"]

const PAGE = 200
const MOST = 500

/** A page of the tree: of the roots, or of what stands below one, behind a position. */
export const treePage = (parent: string | undefined, after: string | undefined) =>
  queryOptions({
    queryKey: ["reports", "tree", parent ?? null, after ?? null],
    queryFn: ({ signal }): Promise<TreePage> => {
      const query = { limit: PAGE, format: "json" as const, ...(parent && { parent }), ...(after && { after }) }
      return api.get("/api/v1/reports/trace-tree", { params: { query }, signal }) as Promise<TreePage>
    },
  })

/** The requirements right above and below one, each with the relation. */
export const relatedOf = (id: string) =>
  queryOptions({
    queryKey: ["relations", "of", id],
    queryFn: ({ signal }) => {
      const params = { path: { requirement_id: id }, query: { limit: MOST } }
      return api.get("/api/v1/requirements/{requirement_id}/relations", { params, signal })
    },
  })

/** What a change of a requirement makes suspect, and its test cases with their verdicts. */
export const impactOf = (id: string) =>
  queryOptions({
    queryKey: ["reports", "impact", id],
    queryFn: ({ signal }) => {
      const params = { path: { requirement_id: id }, query: { depth: 1 } }
      return api.get("/api/v1/requirements/{requirement_id}/impact", { params, signal })
    },
  })

/** What a requirement comes to with all that stand below it. */
export const rolledOf = (id: string) =>
  queryOptions({
    queryKey: ["reports", "rolled", id],
    queryFn: async ({ signal }) => {
      const params = { path: { requirement_id: id }, query: { expand: "relations" as const } }
      const { rolled, rolled_coverage } = await api.get("/api/v1/requirements/{requirement_id}", { params, signal })
      return { rolled, coverage: rolled_coverage }
    },
  })

/** Say that one requirement stands below another. */
export function relate(child: string, parent: string): Promise<Schemas["Relation"]> {
  return api.post("/api/v1/relations", { body: { child_id: child, parent_id: parent } })
}

export function unrelate(id: string): Promise<unknown> {
  return api.delete("/api/v1/relations/{relation_id}", { params: { path: { relation_id: id } }, keepalive: true })
}

/** Say that a relation still holds after what changed. */
export function confirmRelation(id: string): Promise<unknown> {
  return api.post("/api/v1/relations/{relation_id}/confirm", { params: { path: { relation_id: id } } })
}
