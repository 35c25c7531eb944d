import type { ReactNode } from "react"
import { Button as AriaButton, Menu as AriaMenu, MenuItem, MenuTrigger, Popover } from "react-aria-components"
import css from "./menu.module.css"

export type MenuEntry = { id: string; label: string; isChosen?: boolean; run: () => void }

/** A button that opens a menu of actions. */
export function Menu({ label, entries, children }: { label: string; entries: MenuEntry[]; children: ReactNode }) {
  return (
    <MenuTrigger>
      <AriaButton className={css.trigger ?? ""}>{children}</AriaButton>
      <Popover className={css.popover ?? ""}>
        <AriaMenu
          aria-label={label}
          className={css.menu ?? ""}
          onAction={(id) => entries.find((entry) => entry.id === id)?.run()}
        >
          {entries.map(({ id, label: text, isChosen }) => (
            <MenuItem key={id} id={id} textValue={text} className={css.item ?? ""}>
              <span className={css.check} aria-hidden="true">
                {isChosen ? "✓" : ""}
              </span>
              {text}
            </MenuItem>
          ))}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  )
}
