/** An error as the API describes it (RFC 9457), or a failure to reach it at all. */
export class ApiProblem extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string | undefined
  readonly retryAfter: number | undefined
  readonly body: Record<string, unknown>

  constructor(status: number, body: Record<string, unknown>, retryAfter?: number) {
    super(typeof body.detail === "string" ? body.detail : "")
    this.status = status
    this.code = typeof body.code === "string" ? body.code : "unknown"
    this.requestId = typeof body.request_id === "string" ? body.request_id : undefined
    this.retryAfter = retryAfter
    this.body = body
  }

  /** Return a problem with this code as one of a field. */
  at(code: string, pointer: string, message: string): ApiProblem {
    return this.code === code ? new ApiProblem(this.status, { errors: [{ pointer, message }] }) : this
  }

  /** What is wrong with each field, by its JSON pointer. */
  get fields(): Record<string, string> {
    const errors = Array.isArray(this.body.errors) ? (this.body.errors as { pointer: string; message: string }[]) : []
    return Object.fromEntries(errors.map((error) => [error.pointer, error.message]))
  }
}

/** Status of a problem that stands for no answer at all: offline, or the server is away. */
export const UNREACHABLE = 0

/** Return the ApiProblem of a response that is not ok, whose body was read as `body`. */
export function problemOf(response: Response, body: unknown): ApiProblem {
  const retryAfter = Number(response.headers.get("retry-after")) || undefined
  const members = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {}
  return new ApiProblem(response.status, members, retryAfter)
}

/** Check whether there is no such thing as was asked for, or its id cannot be one. */
export const isGone = (error: unknown): boolean =>
  error instanceof ApiProblem && (error.status === 404 || error.status === 422)
