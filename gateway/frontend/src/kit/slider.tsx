import { Slider as AriaSlider, Label, SliderOutput, SliderThumb, SliderTrack } from "react-aria-components"
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
  return (
    <AriaSlider
      className={css.slider ?? ""}
      value={value}
      minValue={from}
      maxValue={to}
      step={step}
      onChange={(next) => onChange(next as number)}
    >
      <Label className={css.label ?? ""}>{label}</Label>
      <SliderOutput className={css.output ?? ""}>{format(value)}</SliderOutput>
      <SliderTrack className={css.track ?? ""} style={{ "--share": (value - from) / (to - from) }}>
        <SliderThumb className={css.thumb ?? ""} />
      </SliderTrack>
    </AriaSlider>
  )
}
