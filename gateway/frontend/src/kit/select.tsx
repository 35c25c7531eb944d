import {
  Button as AriaButton,
  Select as AriaSelect,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SelectValue,
} from "react-aria-components"
import menu from "./menu.module.css"
import css from "./select.module.css"

type Props<T extends string> = {
  label: string
  hideLabel?: boolean
  value: T
  options: { value: T; label: string }[]
  onChange: (value: T) => void
}

/** One of a few values. */
export function Select<T extends string>({ label, hideLabel, value, options, onChange }: Props<T>) {
  return (
    <AriaSelect className={css.select ?? ""} value={value} onChange={(key) => onChange(key as T)}>
      <Label className={hideLabel ? "visually-hidden" : css.label}>{label}</Label>
      <AriaButton className={css.button ?? ""}>
        <SelectValue />
        <span aria-hidden="true">▾</span>
      </AriaButton>
      <Popover className={menu.popover ?? ""}>
        <ListBox className={menu.menu ?? ""}>
          {options.map((option) => (
            <ListBoxItem key={option.value} id={option.value} textValue={option.label} className={menu.item ?? ""}>
              {option.label}
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </AriaSelect>
  )
}
