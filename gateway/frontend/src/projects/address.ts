export const MAIN = "MAIN"
const OF_PROJECT = /\/api\/v1\/(?!(?:auth|users|projects|notifications|version)(?:[/?]|$))/

/** Return the key of the project that the address of a page names; MAIN where it names none. */
export function projectKey(path: string = location.pathname): string {
  return /^\/p\/([^/]+)/.exec(path)?.[1] ?? MAIN
}

/** Return an address of the API with the project in it; what is of no project, and all of MAIN, stays as it is. */
export function addressed(address: string, key: string = projectKey()): string {
  return key === MAIN ? address : address.replace(OF_PROJECT, `/api/v1/projects/${key}/`)
}
