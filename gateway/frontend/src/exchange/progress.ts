import { useRef } from "react"

const FEWEST_MS = 1000
const UNITS = ["B", "kB", "MB"]

/** Return the seconds that something takes from now on if it goes on as it did; undefined while that says nothing. */
export function secondsLeft(began: { at: number; share: number }, now: number, share: number): number | undefined {
  const [took, done] = [now - began.at, share - began.share]
  if (took < FEWEST_MS || done <= 0) return undefined
  return Math.ceil((took / 1000 / done) * (1 - share))
}

/** Return how long something still takes that is shown while it goes on; it is measured from when it was first shown. */
export function useSecondsLeft(share: number, goesOn: boolean): number | undefined {
  const began = useRef<{ at: number; share: number }>(undefined)
  if (!goesOn) began.current = undefined
  else began.current ??= { at: Date.now(), share }
  return began.current && secondsLeft(began.current, Date.now(), share)
}

/** Return a size in the unit that it is best read in, and that unit. */
export function inUnits(bytes: number): [number, string] {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const amount = bytes / 1000 ** power
  return [power > 0 && amount < 100 ? Math.round(amount * 10) / 10 : Math.round(amount), UNITS[power] ?? ""]
}
