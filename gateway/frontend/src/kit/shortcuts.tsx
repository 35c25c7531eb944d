import { useEffect, useRef } from "react"
import { store } from "../store"
import css from "./shortcuts.module.css"

export type Shortcut = {
  /** `a`, `Shift+A`, `Mod+k` (Ctrl, on a Mac Cmd), `ArrowDown`, or two keys in turn: `g d`. */
  keys: string
  label: string
  group?: "everywhere" | "go" | "here"
  /** Whether holding the key down does it again; never for a decision. */
  repeats?: boolean
  run: () => void
}

const SETTING = "traceline.single-keys"
const SECONDS_BETWEEN_TWO_KEYS = 1.5
const IS_MAC = navigator.platform.startsWith("Mac")
const SIGNS: Record<string, string> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowLeft: "←",
  ArrowRight: "→",
  Mod: IS_MAC ? "⌘" : "Ctrl",
}

let registered: { current: Shortcut[] }[] = []
const enabled = store(localStorage.getItem(SETTING) !== "off")
let first: { key: string; at: number } | undefined

/** Have these keys do something while the calling part of the page is shown; what was shown last goes first. */
export function useShortcuts(shortcuts: Shortcut[]): void {
  const latest = useRef(shortcuts)
  latest.current = shortcuts
  useEffect(() => {
    registered = [latest, ...registered]
    return () => {
      registered = registered.filter((one) => one !== latest)
    }
  }, [])
}

/** Return all shortcuts that do something now. */
export function currentShortcuts(): Shortcut[] {
  const seen = new Set<string>()
  return registered.flatMap((one) => one.current).filter(({ keys }) => !seen.has(keys) && seen.add(keys))
}

/** Return whether keys without Ctrl or Cmd are on, and how to switch them (WCAG 2.1.4). */
export function useSingleKeys(): [boolean, (on: boolean) => void] {
  return [enabled.use(), switchSingleKeys]
}

function switchSingleKeys(on: boolean): void {
  localStorage.setItem(SETTING, on ? "on" : "off")
  enabled.set(on)
}

/** Keys as they are printed on a keyboard. */
export function Keys({ keys }: { keys: string }) {
  const [on] = useSingleKeys()
  if (!on && !keys.includes("Mod+")) return null
  return (
    <span className={css.keys} aria-hidden="true">
      {keys.split(/ |(?<=.)\+/).map((key) => (
        <kbd key={key}>{SIGNS[key] ?? (key.length === 1 ? key.toUpperCase() : key)}</kbd>
      ))}
    </span>
  )
}

/** Return keys as the attribute aria-keyshortcuts has them. */
export function ariaKeys(keys: string): string {
  return keys.replace("Mod", IS_MAC ? "Meta" : "Control")
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || isTyping(event.target)) return
  const name = nameOf(event)
  if ((name === "Enter" || name === "Space") && isPressable(event.target)) return
  const isModified = hasModifier(event)
  if (!isModified && !enabled.get()) return
  const before = first && Date.now() - first.at < SECONDS_BETWEEN_TWO_KEYS * 1000 ? `${first.key} ` : ""
  const all = currentShortcuts()
  const found = all.find(({ keys }) => before && keys === before + name) ?? all.find(({ keys }) => keys === name)
  first = undefined
  if (found) {
    if (event.repeat && !found.repeats) return
    event.preventDefault()
    found.run()
  } else if (!isModified && all.some(({ keys }) => keys.startsWith(`${name} `))) {
    first = { key: name, at: Date.now() }
  }
})

function nameOf(event: KeyboardEvent): string {
  const modifier = hasModifier(event) ? "Mod+" : ""
  const isLetter = /^\p{L}$/u.test(event.key)
  const shift = event.shiftKey && (isLetter || event.key.length > 1) ? "Shift+" : ""
  return modifier + shift + (shift && isLetter ? event.key.toUpperCase() : event.key === " " ? "Space" : event.key)
}

/** Check for Ctrl or Cmd. AltGr, which many keyboards write brackets with, is told as Ctrl with Alt by some systems. */
function hasModifier(event: KeyboardEvent): boolean {
  return (event.ctrlKey || event.metaKey) && !event.getModifierState("AltGraph")
}

/** Check whether Enter or Space does something with what has the focus. */
function isPressable(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("a, button, summary, input, [role=tab], [role=option]")
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  const isField = target.matches(
    "input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable=true]",
  )
  return isField || target.closest("[role=dialog], [role=alertdialog], [role=menu], [role=listbox]") !== null
}
