import type { ReactNode } from "react"
import { m } from "../messages"
import { Button } from "./button"
import css from "./panel.module.css"
import { useShortcuts } from "./shortcuts"

type Props = {
  label: string
  onClose: () => void
  /** Beside the button that closes it. */
  actions?: ReactNode
  children: ReactNode
}

/** A panel at the right for a glance: the page stays as it is, and the focus where it is. */
export function Panel({ label, onClose, actions, children }: Props) {
  useShortcuts([{ keys: "Escape", label: m.common.closePanel, run: onClose }])
  return (
    <aside className={css.panel} aria-label={label}>
      <div className={css.bar}>
        {actions}
        <Button look="quiet" keys="Escape" onPress={onClose}>
          {m.common.close}
        </Button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
      <div className={css.content} tabIndex={0}>
        {children}
      </div>
    </aside>
  )
}
