import { useId } from "react"
import css from "./slider.module.css"

type Props = {
  label: string
  value: number
  from: number
  to: number
  step: number
  format: (value: number) => string
  onChange: (value: number) => void
}

/** A number between two others, by hand or by keys. */
export function Slider({ label, value, from, to, step, format, onChange }: Props) {
  const id = useId()
  return (
    <div className={css.slider}>
      <label htmlFor={id}>{label}</label>
      <output htmlFor={id}>{format(value)}</output>
      <input
        id={id}
        type="range"
        min={from}
        max={to}
        step={step}
        value={value}
        aria-valuetext={format(value)}
        onChange={({ target }) => onChange(target.valueAsNumber)}
      />
    </div>
  )
}
