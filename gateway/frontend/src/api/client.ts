import createClient from "openapi-fetch"
import { addressed } from "../projects/address"
import { whenSignedInAgain } from "../session/session"
import { noteReached, whenReached } from "./connection"
import { ApiProblem, problemOf, UNREACHABLE } from "./problem"
import type { paths } from "./schema"

/** Send a request; when the session has ended, wait until somebody has signed in again and send it once more. */
export async function send(request: Request): Promise<Response> {
  const again = request.body ? request.clone() : request
  const response = await reach(request)
  if (response.status !== 401) return response
  await whenSignedInAgain()
  return reach(again)
}

async function reach(request: Request): Promise<Response> {
  // What has to go although the page may go is tried again by who sends it.
  if (request.method !== "GET" && !request.keepalive) await whenReached()
  try {
    const response = await fetch(request)
    noteReached(true)
    return response
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error
    noteReached(false)
    throw new ApiProblem(UNREACHABLE, { code: "unreachable" })
  }
}

/** The API, typed by its OpenAPI document, with its responses; every call goes through the session of this browser. */
export const client = createClient<paths>({
  baseUrl: location.origin,
  fetch: send,
  Request: class extends Request {
    constructor(address: RequestInfo | URL, init?: RequestInit) {
      super(typeof address === "string" ? addressed(address) : address, init)
    }
  },
  // A list of alternatives is one parameter, with commas.
  querySerializer: { array: { style: "form", explode: false } },
})

type Answer<T> = { data?: T; error?: unknown; response: Response }

/** Return what the API answered, and its ETag; throw the ApiProblem when it refused. */
export async function withEtag<T>(answer: Promise<Answer<T>>): Promise<{ data: T; etag: string }> {
  const { data, error, response } = await answer
  if (!response.ok) throw problemOf(response, error)
  return { data: data as T, etag: response.headers.get("etag") ?? "" }
}

function answering<A extends unknown[], R extends Answer<unknown>>(method: (...args: A) => Promise<R>) {
  return async (...args: A) => (await withEtag(method(...args))).data as Exclude<R["data"], undefined>
}

/** The API as it is mostly used: a call gives what was answered, and throws the ApiProblem when it was refused. */
export const api = {
  get: answering(client.GET),
  post: answering(client.POST),
  put: answering(client.PUT),
  patch: answering(client.PATCH),
  delete: answering(client.DELETE),
}
