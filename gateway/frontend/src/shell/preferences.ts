import { useSyncExternalStore } from "react"

export type Theme = "system" | "light" | "dark"
export type Density = "comfortable" | "compact"
type Preferences = { theme: Theme; density: Density }

const SETTING = "traceline.preferences"
let preferences: Preferences = { theme: "system", density: "comfortable", ...read() }
const listeners = new Set<() => void>()

/** Return how this browser shows the page. */
export function usePreferences(): Preferences {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => preferences,
  )
}

/** Change how this browser shows the page, now and from now on. */
export function prefer(change: Partial<Preferences>): void {
  preferences = { ...preferences, ...change }
  localStorage.setItem(SETTING, JSON.stringify(preferences))
  applyPreferences()
  for (const listener of listeners) listener()
}

/** Show the page as this browser prefers. */
export function applyPreferences(): void {
  const { dataset } = document.documentElement
  if (preferences.theme === "system") delete dataset.theme
  else dataset.theme = preferences.theme
  dataset.density = preferences.density
}

function read(): Partial<Preferences> {
  try {
    return JSON.parse(localStorage.getItem(SETTING) ?? "{}")
  } catch {
    return {}
  }
}
