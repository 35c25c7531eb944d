import { type ReactNode, useEffect, useId, useRef } from "react"
import css from "./popover.module.css"

type Props = {
  /** What the button says. */
  button: ReactNode
  /** What the layer is, for those who do not see. */
  label: string
  isChosen?: boolean
  isOpen: boolean
  onOpenChange: (isOpen: boolean) => void
  children: ReactNode
}

const MARGIN = 8

/** A button that opens a small layer with controls, and stays open while they are used; the page goes on behind it. */
export function Popover({ button, label, isChosen, isOpen, onOpenChange, children }: Props) {
  const id = useId()
  const trigger = useRef<HTMLButtonElement>(null)
  const layer = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!layer.current || isOpen === layer.current.matches(":popover-open")) return
    // So that the browser gives the focus back to it.
    if (isOpen) trigger.current?.focus()
    layer.current.togglePopover(isOpen)
  }, [isOpen])
  useEffect(() => {
    if (!isOpen || !layer.current || !trigger.current) return
    place(layer.current, trigger.current)
    if (!layer.current.contains(document.activeElement)) {
      layer.current.querySelector<HTMLElement>("input, button, select")?.focus()
    }
  })
  return (
    <>
      <button
        ref={trigger}
        type="button"
        className={css.button}
        data-chosen={isChosen || undefined}
        popoverTarget={id}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
      >
        {button}
      </button>
      <div
        ref={layer}
        id={id}
        className={css.popover}
        popover="auto"
        role="dialog"
        aria-label={label}
        onToggle={(event) => onOpenChange(event.newState === "open")}
      >
        {isOpen && children}
      </div>
    </>
  )
}

/** Put a layer below a button, inside the window. */
function place(layer: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect()
  const right = innerWidth - layer.offsetWidth - MARGIN
  layer.style.setProperty("--left", `${Math.max(MARGIN, Math.min(at.left, right))}px`)
  layer.style.setProperty("--top", `${at.bottom + 4}px`)
}
