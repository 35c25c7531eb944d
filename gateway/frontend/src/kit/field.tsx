import type { ReactNode } from "react"
import { FieldError, Input, Label, Text, TextArea, TextField, type TextFieldProps } from "react-aria-components"
import css from "./field.module.css"

type Props = Omit<TextFieldProps, "className" | "style" | "children"> & {
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

export function Field({ label, hint, error, placeholder, lines, end, hideLabel, ...props }: Props) {
  return (
    <TextField {...props} className={css.field ?? ""} isInvalid={error !== undefined}>
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
