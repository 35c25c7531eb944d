import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react"
import { m } from "../messages"
import { Button } from "./button"
import css from "./dialog.module.css"

/** Whether leaving asks first: never, always, or where a field says something else than at first. */
export type Asks = "never" | "always" | "if typed"

/**
 * Return what leaves a box with fields, and the question that it asks first where something would be lost.
 *
 * It asks once: who leaves again leaves.
 */
export function useAskOnce(box: RefObject<HTMLElement | null>, leave: () => void, asks: Asks): [() => void, ReactNode] {
  const [isAsking, setAsking] = useState(false)
  const atFirst = useRef("")
  const before = useRef<Element>(null)
  useEffect(() => {
    atFirst.current = typedIn(box.current)
  }, [box])
  function tryToLeave() {
    const isLost = asks === "always" || (asks === "if typed" && typedIn(box.current) !== atFirst.current)
    if (isAsking || !isLost) return leave()
    before.current = document.activeElement
    setAsking(true)
  }
  function goOn() {
    setAsking(false)
    if (before.current instanceof HTMLElement) before.current.focus()
  }
  const question = isAsking && (
    <div className={css.asking} role="alert">
      <p>{m.common.notSaved}</p>
      <div className={css.buttons}>
        <Button autoFocus onPress={goOn}>
          {m.common.keepEditing}
        </Button>
        <Button look="danger" onPress={leave}>
          {m.common.discard}
        </Button>
      </div>
    </div>
  )
  return [tryToLeave, question]
}

/** Return all that is typed and ticked in a box, to be compared with what it was before. */
function typedIn(box: HTMLElement | null): string {
  const fields = [...(box?.querySelectorAll<HTMLInputElement>("input:not([type=radio], [type=range]), textarea") ?? [])]
  return JSON.stringify(fields.map((one) => (one.type === "checkbox" ? one.checked : one.value)))
}
