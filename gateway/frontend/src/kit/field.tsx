import { type ReactNode, useState } from "react"
import { FieldError, Input, Label, Text, TextArea, TextField, type TextFieldProps } from "react-aria-components"
import css from "./field.module.css"

export type FieldProps = Omit<TextFieldProps, "className" | "style" | "children"> & {
  label: string
  hint?: string
  /** What is wrong with the value. */
  error?: string
  placeholder?: string
  /** Lines of a text; without it one line. */
  lines?: number
  /** A button at the end of the field. */
  end?: ReactNode
  /** The label is read to those who do not see, and shown to nobody. */
  hideLabel?: boolean
}

export function Field({
  label,
  hint,
  error: told,
  placeholder,
  lines,
  end,
  hideLabel,
  onChange,
  ...props
}: FieldProps) {
  // Once somebody types, what was wrong may be right; and a form with a wrong field cannot be sent again.
  const [isChanged, setChanged] = useState(false)
  if (isChanged && told === undefined) setChanged(false)
  const error = isChanged ? undefined : told
  function change(value: string) {
    setChanged(told !== undefined)
    onChange?.(value)
  }
  return (
    <TextField {...props} onChange={change} className={css.field ?? ""} isInvalid={error !== undefined}>
      <Label className={hideLabel ? "visually-hidden" : css.label}>{label}</Label>
      <div className={css.box}>
        {lines ? (
          <TextArea className={css.input ?? ""} rows={lines} placeholder={placeholder} />
        ) : (
          <Input className={css.input ?? ""} placeholder={placeholder} />
        )}
        {end}
      </div>
      {hint && (
        <Text slot="description" className={css.hint ?? ""}>
          {hint}
        </Text>
      )}
      <FieldError className={css.error ?? ""}>{error}</FieldError>
    </TextField>
  )
}
