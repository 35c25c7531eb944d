import { useEffect, useId, useRef } from "react"
import menu from "./menu.module.css"
import { useOptions } from "./options"
import { Popover } from "./popover"
import css from "./select.module.css"

type Option<T> = { value: T; label: string }
type Props<T extends string> = {
  label: string
  hideLabel?: boolean
  value: T
  options: Option<T>[]
  onChange: (value: T) => void
}

/** One of a few values. */
export function Select<T extends string>({ label, hideLabel, value, options, onChange }: Props<T>) {
  const button = (
    <>
      {options.find((option) => option.value === value)?.label} <span className="visually-hidden">{label}</span>
    </>
  )
  return (
    <div className={css.select}>
      {!hideLabel && (
        <span className={css.label} aria-hidden="true">
          {label}
        </span>
      )}
      <Popover label={label} button={button}>
        {(close) => (
          <Options
            label={label}
            value={value}
            options={options}
            close={close}
            take={(option) => {
              close()
              onChange(option.value)
            }}
          />
        )}
      </Popover>
    </div>
  )
}

type OptionsProps<T extends string> = Omit<Props<T>, "onChange"> & {
  take: (option: Option<T>) => void
  close: () => void
}

function Options<T extends string>({ label, value, options, take, close }: OptionsProps<T>) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const first = options.findIndex((option) => option.value === value)
  const { chosen, setActive, onKeyDown } = useOptions(options, take, close, Math.max(0, first))
  useEffect(() => {
    if (chosen) list.current?.querySelector("[data-active]")?.scrollIntoView({ block: "nearest" })
  }, [chosen])
  return (
    <div
      ref={list}
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={chosen && `${id}${options.indexOf(chosen)}`}
      onKeyDown={onKeyDown}
    >
      {options.map((option, place) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus, and names the active one
        // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
        <div
          key={option.value}
          id={`${id}${place}`}
          role="option"
          aria-selected={option.value === value}
          data-active={option === chosen || undefined}
          className={menu.entry}
          onMouseMove={() => setActive(place)}
          onClick={() => take(option)}
        >
          <span className={menu.check} aria-hidden="true">
            {option.value === value ? "✓" : ""}
          </span>
          {option.label}
        </div>
      ))}
    </div>
  )
}
