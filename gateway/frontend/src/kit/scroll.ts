import { type RefObject, useLayoutEffect } from "react"
import { useLocation } from "wouter"

const places = new Map<string, number>()
let isBack = false
const UNTIL_LOADED_MS = 2000

addEventListener("popstate", () => {
  isBack = true
})
for (const move of ["pushState", "replaceState"]) {
  addEventListener(move, () => {
    isBack = false
  })
}

/** Have an element begin at its top at each address, and where it was when somebody comes back. */
export function useKeptScroll(ref: RefObject<HTMLElement | null>): void {
  const [path] = useLocation()
  useLayoutEffect(() => {
    const element = ref.current
    if (!element) return
    const wanted = isBack ? (places.get(path) ?? 0) : 0
    const end = performance.now() + UNTIL_LOADED_MS
    let frame = 0
    // What is there only after an answer has come is not as high before.
    const restore = () => {
      element.scrollTo({ top: wanted, behavior: "instant" })
      if (element.scrollTop < wanted && performance.now() < end) frame = requestAnimationFrame(restore)
    }
    restore()
    const giveUp = () => cancelAnimationFrame(frame)
    element.addEventListener("wheel", giveUp, { passive: true })
    const remember = () => places.set(path, element.scrollTop)
    element.addEventListener("scrollend", remember)
    return () => {
      element.removeEventListener("scrollend", remember)
      element.removeEventListener("wheel", giveUp)
      giveUp()
    }
  }, [path, ref])
}
