import { queryOptions } from "@tanstack/react-query"
import { api, client, withEtag } from "../api/client"

const PAGE = 200

/** Return suspect links, the one changed last first. */
export function readSuspects({ after }: { after?: string }, signal: AbortSignal) {
  const query = { suspect: true, expand: "items", sort: "updated_at:desc", limit: PAGE, after } as const
  return api.get("/api/v1/links", { params: { query }, signal })
}

/** Confirm a link if it is as it was looked at; throw the ApiProblem when not. */
export async function confirm(id: string, etag: string): Promise<void> {
  const params = { path: { link_id: id } }
  await api.post("/api/v1/links/{link_id}/confirm", { params, headers: { "if-match": etag }, keepalive: true })
}

/** What changed on the sides of a link, both items as they are now, and the ETag that says what was looked at. */
export const suspicionOf = (id: string) =>
  queryOptions({
    queryKey: ["links", id, "suspicion"],
    queryFn: async ({ signal }) => {
      const path = { link_id: id }
      const { data: link, etag } = await withEtag(client.GET("/api/v1/links/{link_id}", { params: { path }, signal }))
      const [suspicion, requirement, testCase] = await Promise.all([
        api.get("/api/v1/links/{link_id}/suspicion", { params: { path }, signal }),
        api.get("/api/v1/requirements/{requirement_id}", {
          params: { path: { requirement_id: link.requirement_id } },
          signal,
        }),
        api.get("/api/v1/test-cases/{test_case_id}", { params: { path: { test_case_id: link.test_case_id } }, signal }),
      ])
      return { link, etag, suspicion, requirement, testCase }
    },
  })
