import { type ReactNode, useEffect, useId, useState } from "react"
import css from "./finder.module.css"
import { useOptions } from "./options"

type Props<T> = {
  label: string
  placeholder: string
  /** What was found for what is typed; undefined while it is on its way. */
  found: T[] | undefined
  onType: (text: string) => void
  onChoose: (one: T) => void
  onClose: () => void
  keyOf: (one: T) => string
  isDisabled?: (one: T) => boolean
  children: (one: T) => ReactNode
  /** What is said when nothing is found. */
  nothing: string
}

const TYPING_MS = 200

/** A field with what it finds below it: arrows choose, Enter takes, Escape leaves, and so does a click beside while it is empty. */
export function Finder<T>(props: Props<T>) {
  const { found, keyOf, isDisabled, onType } = props
  const [text, setText] = useState("")
  const id = useId()
  useEffect(() => {
    const timer = setTimeout(() => onType(text.trim()), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text, onType])
  const take = (one: T) => isDisabled?.(one) || props.onChoose(one)
  const { chosen, setActive, onKeyDown } = useOptions(found, take, props.onClose)
  return (
    <div className={css.finder}>
      <input
        // biome-ignore lint/a11y/noAutofocus: somebody has just asked for it
        autoFocus
        className={css.input}
        role="combobox"
        aria-label={props.label}
        aria-expanded={Boolean(found?.length)}
        aria-controls={`${id}list`}
        aria-activedescendant={chosen && `${id}${keyOf(chosen)}`}
        aria-autocomplete="list"
        autoComplete="off"
        placeholder={props.placeholder}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setActive(0)
        }}
        onKeyDown={onKeyDown}
        // Not when it is the window that has lost the focus.
        onBlur={() => text.trim() === "" && document.hasFocus() && props.onClose()}
      />
      <div id={`${id}list`} className={css.list} role="listbox" aria-label={props.label}>
        {found?.map((one, place) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus, and names the active one
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
          <div
            key={keyOf(one)}
            id={`${id}${keyOf(one)}`}
            role="option"
            className={css.option}
            aria-selected={one === chosen}
            aria-disabled={isDisabled?.(one) || undefined}
            onMouseMove={() => setActive(place)}
            onClick={() => take(one)}
          >
            {props.children(one)}
          </div>
        ))}
      </div>
      <p role="status" className={css.nothing}>
        {found?.length === 0 && text.trim() !== "" ? props.nothing : ""}
      </p>
    </div>
  )
}
