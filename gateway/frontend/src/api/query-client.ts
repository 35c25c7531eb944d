import { QueryClient } from "@tanstack/react-query"
import { ApiProblem, UNREACHABLE } from "./problem"

const TEMPORARY = new Set([UNREACHABLE, 429, 502, 503, 504])
const MOST_TRIES = 3

/** Check whether the same request may succeed a little later. */
export function isTemporary(error: unknown): boolean {
  return error instanceof ApiProblem && TEMPORARY.has(error.status)
}

/** Return the milliseconds to wait before a further try: what the server says, else 1, 2, 4 s. */
export function waitBefore(tries: number, error: unknown): number {
  const said = error instanceof ApiProblem ? error.retryAfter : undefined
  return said === undefined ? 1000 * 2 ** tries : said * 1000
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (tries, error) => tries < MOST_TRIES && isTemporary(error),
      retryDelay: waitBefore,
      staleTime: 10_000,
      networkMode: "always",
      refetchOnReconnect: true,
    },
  },
})
