import { useEffect } from "react"
import { useLocation, useSearchParams } from "wouter"
import { useSession } from "./session"

/** Lead who is signed in to what was asked for before: `?next=`, or the beginning. */
export function useLeave(): void {
  const { state } = useSession()
  const [, go] = useLocation()
  const [search] = useSearchParams()
  const next = ownPath(search.get("next"), location.origin)
  useEffect(() => {
    if (state === "signed-in") go(next, { replace: true })
  }, [state, next, go])
}

/** Return a path of this page only: nobody is sent elsewhere by a link that he was given. */
export function ownPath(next: string | null, origin: string): string {
  if (!next?.startsWith("/")) return "/"
  const address = new URL(next, origin)
  return address.origin === origin ? address.pathname + address.search : "/"
}
