import { Field } from "../kit/field"
import { Select } from "../kit/select"
import { m } from "../messages"
import css from "./form.module.css"
import { PREFIX, type ProjectField } from "./project-fields"

type Props = {
  fields: ProjectField[]
  /** What the form says of a field, by `field.KEY`. */
  draft: Record<string, string>
  errors: Record<string, string>
  change: (name: string, value: string) => void
}

/** The fields of the project in the form of an item. */
export function FieldInputs({ fields, draft, errors, change }: Props) {
  return fields.map((field) => {
    const name = `${PREFIX}${field.key}`
    const value = draft[name] ?? ""
    const of = { label: field.name, value, onChange: (said: string) => change(name, said) }
    if (field.kind === "choice" || field.kind === "yes_no") {
      const values = field.kind === "choice" ? field.choices : ["true", "false"]
      const words = field.kind === "choice" ? values : [m.fields.yes, m.fields.no]
      const options = values.map((one, at) => ({ value: one, label: words[at] ?? one }))
      return (
        <div key={name} className={css.closed}>
          <Select {...of} options={[{ value: "", label: m.fields.none }, ...options]} />
          {errors[name] && <p role="alert">{errors[name]}</p>}
        </div>
      )
    }
    if (field.kind === "choices") return <Several key={name} field={field} {...of} error={errors[name]} />
    return (
      <Field
        key={name}
        {...of}
        {...(errors[name] ? { error: errors[name] } : {})}
        {...(field.kind === "date" ? { hint: m.fields.dateHint } : {})}
        {...(field.kind === "number" ? { inputMode: "decimal" as const } : {})}
        isRequired={field.required && field.default === null}
      />
    )
  })
}

type SeveralProps = {
  field: ProjectField
  value: string
  onChange: (value: string) => void
  error: string | undefined
}

function Several({ field, value, onChange, error }: SeveralProps) {
  const chosen: string[] = value ? JSON.parse(value) : []
  function toggle(choice: string) {
    const next = field.choices.filter((one) => (one === choice ? !chosen.includes(one) : chosen.includes(one)))
    onChange(next.length > 0 ? JSON.stringify(next) : "")
  }
  return (
    <fieldset className={css.several}>
      <legend>{field.name}</legend>
      {field.choices.map((choice) => (
        <label key={choice}>
          <input type="checkbox" checked={chosen.includes(choice)} onChange={() => toggle(choice)} /> {choice}
        </label>
      ))}
      {error && <p role="alert">{error}</p>}
    </fieldset>
  )
}
