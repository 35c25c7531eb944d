import { kept, store } from "../store"

export type Theme = "system" | "light" | "dark"
export type Density = "comfortable" | "compact"
type Preferences = { theme: Theme; density: Density }

const SETTING = "traceline.preferences"
const AT_FIRST: Preferences = { theme: "system", density: "comfortable" }
const preferences = store<Preferences>({ ...AT_FIRST, ...kept(SETTING, {}) })

/** Return how this browser shows the page. */
export const usePreferences = preferences.use

/** Change how this browser shows the page, now and from now on. */
export function prefer(change: Partial<Preferences>): void {
  preferences.set({ ...preferences.get(), ...change })
  localStorage.setItem(SETTING, JSON.stringify(preferences.get()))
  applyPreferences()
}

/** Show the page as this browser prefers. */
export function applyPreferences(): void {
  const { dataset } = document.documentElement
  const { theme, density } = preferences.get()
  if (theme === "system") delete dataset.theme
  else dataset.theme = theme
  dataset.density = density
}
