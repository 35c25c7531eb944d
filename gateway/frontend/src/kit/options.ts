import { type KeyboardEvent, useState } from "react"

/** Return which option is chosen while something else has the focus: arrows move on, Enter takes it, Escape leaves. */
export function useOptions<T>(options: T[] | undefined, take: (one: T) => unknown, leave?: () => void, first = 0) {
  const [active, setActive] = useState(first)
  const chosen = options?.[Math.min(active, options.length - 1)]
  function onKeyDown(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return
    const isTyped = event.key !== " " || event.target instanceof HTMLInputElement
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step && options && chosen) setActive((options.indexOf(chosen) + step + options.length) % options.length)
    else if ((event.key === "Enter" || !isTyped) && chosen) take(chosen)
    else if (event.key === "Escape" && leave) leave()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return { chosen, setActive, onKeyDown }
}
