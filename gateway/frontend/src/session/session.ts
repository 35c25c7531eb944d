import { ApiProblem, problemOf, UNREACHABLE } from "../api/problem"
import type { components } from "../api/schema"
import { store } from "../store"

export type Role = "viewer" | "reviewer" | "admin"
export type User = { id: number; email: string; full_name: string; role: Role }
export type Account = { email: string; password: string; project: string }
export type Session =
  | { state: "loading" }
  | { state: "unreachable" }
  | { state: "signed-out"; demo?: Account }
  | { state: "expired"; user: User }
  | { state: "signed-in"; user: User; expiresAt: number }

type Answer = { user: User | null; expires_at?: string; demo?: Account }

const RENEW_AT = 0.75
const ROLES: Role[] = ["viewer", "reviewer", "admin"]

const session = store<Session>({ state: "loading" })
const inProject = store<{ role: Role; archived: boolean } | undefined>(undefined)
let renewal: ReturnType<typeof setTimeout> | undefined
let demo: Account | undefined
const waiting: (() => void)[] = []
const otherTabs = new BroadcastChannel("traceline-session")

/** Return the session of this browser, and render again when it changes. */
export const useSession = session.use

/** Return who is signed in; for parts of the page that nobody else sees. */
export function useUser(): User {
  const current = useSession()
  if (current.state !== "signed-in" && current.state !== "expired") throw new Error("Nobody is signed in.")
  return current.user
}

/** Check whether the one who is signed in has this role or a higher one in the project of this page. */
export function useMay(role: Role): boolean {
  const account = useUser().role
  const project = inProject.use()
  if (project?.archived && role === "reviewer") return false
  return ROLES.indexOf(project?.role ?? account) >= ROLES.indexOf(role)
}

/** Note which role one has in the project of this page, and that nothing in it can be changed. */
export const enterProject: (project: { role: Role; archived: boolean }) => void = (project) => inProject.set(project)

/** Ask the gateway who is signed in. */
export async function readSession(): Promise<void> {
  try {
    take(await call("GET", "/session"))
  } catch (error) {
    if (session.get().state === "loading" && error instanceof ApiProblem) session.set({ state: "unreachable" })
  }
}

/** Sign in, with a code where the account has a second factor; throw the ApiProblem that says why not. */
export async function signIn(email: string, password: string, otp?: string): Promise<void> {
  take(await call("POST", "/session", { email, password, ...(otp && { otp }) }))
  otherTabs.postMessage("signed-in")
}

export type WaysIn = components["schemas"]["WaysIn"]

/** Return the address at which somebody signs in at the identity provider, to be led to a path of the page then. */
export const singleSignOn = (path: string): string => `/api/v1/auth/oidc/login?return_to=${encodeURIComponent(path)}`

/** Return who may register here, whether mails are sent, and whether there is single sign-on. */
export const waysIn = (): Promise<WaysIn> => call("GET", "/api/v1/auth/ways-in")

/** Make an account and sign in with it, or return what to do first; throw the ApiProblem that says why not. */
export async function register(account: { full_name: string; email: string; password: string }): Promise<string> {
  const { detail } = await call<{ detail?: string }>("POST", "/api/v1/auth/register", account)
  if (!detail) await signIn(account.email, account.password)
  return detail ?? ""
}

/** Make the account of an invitation and sign in with it; throw the ApiProblem that says why not. */
export async function acceptInvitation(token: string, full_name: string, password: string): Promise<void> {
  const { email } = await call<User>("POST", "/api/v1/auth/accept-invitation", { token, full_name, password })
  await signIn(email, password)
}

/** Ask for a mail with a link; return what is said of it. */
export async function forgotPassword(email: string): Promise<string> {
  return (await call<{ detail: string }>("POST", "/api/v1/auth/forgot-password", { email })).detail
}

/** Choose a password by a link, which ends every session; throw the ApiProblem that says why not. */
export const resetPassword = (token: string, new_password: string): Promise<unknown> =>
  call("POST", "/api/v1/auth/reset-password", { token, new_password })

/** Change the password of who is signed in, which ends every session, and go on with a new one here. */
export async function changePassword(user: User, current: string, next: string): Promise<void> {
  await call("POST", "/api/v1/auth/change-password", { current_password: current, new_password: next })
  await signIn(user.email, next)
}

/** End the session in all tabs of this browser. */
export async function endSession(): Promise<void> {
  await call("DELETE", "/session")
  otherTabs.postMessage("signed-out")
  leave()
}

/** Note that the session has ended, and wait until the same person has signed in again. */
export function whenSignedInAgain(): Promise<void> {
  const now = session.get()
  if (now.state === "signed-in") session.set({ state: "expired", user: now.user })
  return new Promise((resolve) => waiting.push(resolve))
}

/** Return the key of the project of a demo, if this is one. */
export const demoProject = (): string | undefined => demo?.project

function take(answer: Answer): void {
  clearTimeout(renewal)
  demo = answer.demo ?? demo
  const before = session.get()
  if (!answer.user) {
    const wasIn = before.state === "signed-in" || before.state === "expired"
    session.set(wasIn ? { state: "expired", user: before.user } : { state: "signed-out", demo: answer.demo })
    return
  }
  if (before.state === "expired" && before.user.id !== answer.user.id) {
    leave()
    return
  }
  const expiresAt = Date.parse(answer.expires_at ?? "")
  session.set({ state: "signed-in", user: answer.user, expiresAt })
  renewal = setTimeout(renew, Math.max(1000, (expiresAt - Date.now()) * RENEW_AT))
  for (const resume of waiting.splice(0)) resume()
}

/** Exchange the token for one of now. */
export async function renew(): Promise<void> {
  try {
    take(await call("POST", "/session/renew"))
  } catch {
    // The next request meets the end of the session, and asks to sign in.
  }
}

/** Start from nothing: no data of one person stays for the next. */
function leave(): void {
  location.assign("/sign-in")
}

async function call<T = Answer>(method: string, path: string, body?: unknown): Promise<T> {
  let response: Response
  try {
    response = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    })
  } catch {
    throw new ApiProblem(UNREACHABLE, { code: "unreachable" })
  }
  const answer = response.status === 204 ? {} : await response.json().catch(() => ({}))
  if (!response.ok) throw problemOf(response, answer)
  return answer
}

otherTabs.onmessage = ({ data }) => (data === "signed-out" ? leave() : void readSession())
