import css from "./inline-select.module.css"

type Props<T extends string> = {
  label: string
  value: T
  options: readonly { value: T; label: string }[]
  onChange: (value: T) => void
  isDisabled?: boolean
  autoFocus?: boolean
}

/** One of a few values in a line of text or a row, where a field would be too heavy; the label is not shown. */
export function InlineSelect<T extends string>({ label, value, options, onChange, isDisabled, autoFocus }: Props<T>) {
  return (
    <select
      className={css.select}
      aria-label={label}
      value={value}
      disabled={isDisabled}
      // biome-ignore lint/a11y/noAutofocus: where it is asked for, somebody has just begun to edit
      autoFocus={autoFocus}
      onChange={(event) => onChange(event.target.value as T)}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  )
}
