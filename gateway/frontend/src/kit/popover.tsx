import { type ReactNode, useEffect, useId, useRef, useState } from "react"
import css from "./popover.module.css"
import { type Shortcut, useShortcuts } from "./shortcuts"

export type PopoverProps = {
  /** What the button says. */
  button: ReactNode
  /** What the layer is, for those who do not see. */
  label: string
  isChosen?: boolean
  /** A shortcut that opens it as well. */
  opener?: Omit<Shortcut, "run">
  onOpenChange?: (isOpen: boolean) => void
  /** Its content; as a function, of how to close it. */
  children: ReactNode | ((close: () => void) => ReactNode)
}

const MARGIN = 8

/** A button that opens a small layer with controls, and stays open while they are used; the page goes on behind it. */
export function Popover({ button, label, isChosen, opener, onOpenChange, children }: PopoverProps) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const trigger = useRef<HTMLButtonElement>(null)
  const layer = useRef<HTMLDivElement>(null)
  const open = () => {
    // So that the browser gives the focus back to it.
    trigger.current?.focus()
    layer.current?.showPopover()
  }
  useShortcuts(opener ? [{ ...opener, run: open }] : [])
  useEffect(() => {
    if (!isOpen || !layer.current || !trigger.current) return
    place(layer.current, trigger.current)
    if (!layer.current.contains(document.activeElement)) {
      layer.current.querySelector<HTMLElement>("input, button, select, [tabindex]")?.focus()
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
        <span>{button}</span>
        <span aria-hidden="true">▾</span>
      </button>
      <div
        ref={layer}
        id={id}
        className={css.popover}
        popover="auto"
        role="dialog"
        aria-label={label}
        onToggle={({ newState }) => {
          setOpen(newState === "open")
          onOpenChange?.(newState === "open")
        }}
      >
        {isOpen && (typeof children === "function" ? children(() => layer.current?.hidePopover()) : children)}
      </div>
    </>
  )
}

/** Put a layer below a button, or above it where there is no room, inside the window. */
function place(layer: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect()
  const right = innerWidth - layer.offsetWidth - MARGIN
  layer.style.setProperty("--left", `${Math.max(MARGIN, Math.min(at.left, right))}px`)
  const height = layer.scrollHeight + 2
  const isBelow = at.bottom + 4 + height <= innerHeight || at.bottom < innerHeight / 2
  layer.style.setProperty("--top", `${isBelow ? at.bottom + 4 : Math.max(MARGIN, at.top - 4 - height)}px`)
}
