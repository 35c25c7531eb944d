import createClient from "openapi-fetch"
import { whenSignedInAgain } from "../session/session"
import { noteReached } from "./connection"
import { ApiProblem, UNREACHABLE } from "./problem"
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

/** The API, typed by its OpenAPI document; every call goes through the session of this browser. */
export const api = createClient<paths>({
  baseUrl: location.origin,
  fetch: send,
  // A list of alternatives is one parameter, with commas.
  querySerializer: { array: { style: "form", explode: false } },
})
