import { useEffect, useId, useRef } from "react"
import css from "./command-list.module.css"
import { useOptions } from "./options"

export type Command = { id: string; label: string; detail?: string; run: () => void }
export type CommandGroup = { title: string; commands: Command[] }

type Props = {
  label: string
  placeholder: string
  text: string
  onText: (text: string) => void
  groups: CommandGroup[]
  /** What is said when there is nothing to choose. */
  nothing: string
}

/** A field and what fits its text, chosen by the arrows and Enter while the field keeps the focus. */
export function CommandList({ label, placeholder, text, onText, groups, nothing }: Props) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const shown = groups.filter(({ commands }) => commands.length > 0)
  const all = shown.flatMap(({ commands }) => commands)
  const { chosen, setActive, onKeyDown } = useOptions(all, ({ run }) => run())
  const place = chosen && all.indexOf(chosen)
  useEffect(() => {
    if (place !== undefined) list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" })
  }, [place])
  return (
    <>
      <input
        // biome-ignore lint/a11y/noAutofocus: somebody has just asked for it
        autoFocus
        className={css.input}
        role="combobox"
        aria-label={label}
        aria-expanded={all.length > 0}
        aria-controls={id}
        aria-activedescendant={chosen && `${id}${place}`}
        aria-autocomplete="list"
        autoComplete="off"
        placeholder={placeholder}
        value={text}
        onChange={(event) => {
          onText(event.target.value)
          setActive(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div ref={list} id={id} className={css.list} role="listbox" aria-label={label}>
        {shown.map(({ title, commands }) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a listbox
          <div key={title} role="group" aria-label={title}>
            <div className={css.title} aria-hidden="true">
              {title}
            </div>
            {commands.map((command) => (
              // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus, and names the active one
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
              <div
                key={command.id}
                id={`${id}${all.indexOf(command)}`}
                role="option"
                aria-selected={command === chosen}
                className={css.item}
                onMouseMove={() => setActive(all.indexOf(command))}
                onClick={command.run}
              >
                <span className={css.text}>{command.label}</span>
                {command.detail && <span className={css.detail}>{command.detail}</span>}
              </div>
            ))}
          </div>
        ))}
      </div>
      <p role="status" className={css.title}>
        {all.length === 0 && nothing}
      </p>
    </>
  )
}
