import { useQuery } from "@tanstack/react-query"
import { api } from "../api/client"
import { useFound } from "./looking"

/** Return how much waits in review, how many links are suspect and what is unread; undefined until it is known. */
export function useCounts(): { review?: number; suspect?: number; notifications?: number } {
  useFound()
  const review = useQuery({
    queryKey: ["suggestions", "pending"],
    queryFn: ({ signal }) =>
      api.get("/api/v1/suggestions", { params: { query: { status: ["pending"], limit: 1 } }, signal }),
  })
  const suspect = useQuery({
    queryKey: ["links", "suspect", "count"],
    queryFn: ({ signal }) => api.get("/api/v1/links", { params: { query: { suspect: true, limit: 1 } }, signal }),
  })
  const unread = useQuery({
    queryKey: ["notifications", "unread"],
    queryFn: ({ signal }) => api.get("/api/v1/notifications/unread-count", { signal }),
  })
  return { review: review.data?.total, suspect: suspect.data?.total, notifications: unread.data?.unread_count }
}
