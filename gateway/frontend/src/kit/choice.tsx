import { useId } from "react"
import css from "./choice.module.css"
import { ariaKeys, Keys } from "./shortcuts"

type Props<T extends string> = {
  label: string
  value: T
  /** With `keys`, the shortcut that chooses the same. */
  options: { value: T; label: string; keys?: string }[]
  onChange: (value: T) => void
}

/** One of a few values, all of them seen. */
export function Choice<T extends string>({ label, value, options, onChange }: Props<T>) {
  const name = useId()
  return (
    <fieldset className={css.choice}>
      <legend className="visually-hidden">{label}</legend>
      {options.map((option) => (
        <label key={option.value} className={css.option}>
          <input
            type="radio"
            className="visually-hidden"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
            {...(option.keys && { "aria-keyshortcuts": ariaKeys(option.keys) })}
          />
          {option.label}
          {option.keys && <Keys keys={option.keys} />}
        </label>
      ))}
    </fieldset>
  )
}
