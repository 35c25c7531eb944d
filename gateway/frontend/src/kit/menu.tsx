import type { ReactNode } from "react"
import css from "./menu.module.css"
import { Popover } from "./popover"

export type MenuEntry = { id: string; label: string; isChosen?: boolean; run: () => void }

/** A button that opens a list of actions. */
export function Menu({ label, entries, children }: { label: string; entries: MenuEntry[]; children?: ReactNode }) {
  return (
    <Popover label={label} button={children ?? label}>
      {(close) => (
        <ul>
          {entries.map(({ id, label: text, isChosen, run }) => (
            <li key={id}>
              <button
                type="button"
                className={css.entry}
                aria-pressed={isChosen}
                onClick={() => {
                  close()
                  run()
                }}
              >
                <span className={css.check} aria-hidden="true">
                  {isChosen ? "✓" : ""}
                </span>
                {text}
              </button>
            </li>
          ))}
        </ul>
      )}
    </Popover>
  )
}
