import { useState } from "react"
import { formatCount, m } from "../messages"
import { type Alternative, parseAlternatives, writeAlternatives } from "../url"
import { Button } from "./button"
import { Field } from "./field"
import css from "./filter.module.css"
import { Popover, type PopoverProps } from "./popover"

export type Option = { value: string; label: string; count?: number }

type Props = Pick<PopoverProps, "opener" | "onOpenChange"> & {
  label: string
  /** What is chosen, as the API and the address write it. */
  value: string | undefined
  onChange: (value: string | undefined) => void
  /** undefined while they are on their way; those that are chosen are shown in any case. */
  options: Option[] | undefined
  labelOf?: (value: string) => string
  /** Whether one value at most is chosen, and none excluded. */
  isSingle?: boolean
}

/** Return values with their labels as options. */
export const optionsOf = <T extends string>(labels: Record<T, string>) =>
  Object.entries<string>(labels).map(([value, label]) => ({ value: value as T, label }))

const MOST_WITHOUT_SEARCH = 10
const MOST_IN_CHIP = 2

/** One filter as a chip: what is chosen, and behind it each value with how many have it. */
export function Filter({
  label,
  value: written,
  onChange,
  options,
  labelOf = asOf(options),
  isSingle,
  ...rest
}: Props) {
  const [typed, setTyped] = useState("")
  const chosen = parseAlternatives(written)
  const become = (next: Alternative[]) => onChange(writeAlternatives(isSingle ? next.slice(-1) : next))
  const extra = chosen.filter(({ value }) => options && !options.some((option) => option.value === value))
  const all: Option[] = [...extra.map(({ value }) => ({ value, label: labelOf(value) })), ...(options ?? [])]
  const shown = all.filter((option) => option.label.toLowerCase().includes(typed.trim().toLowerCase()))
  const put = (value: string, next: Alternative | undefined) => {
    const others = chosen.filter((one) => one.value !== value)
    become(next ? [...others, next] : others)
  }
  return (
    <Popover label={label} isChosen={chosen.length > 0} button={summary(label, chosen, labelOf)} {...rest}>
      {all.length > MOST_WITHOUT_SEARCH && (
        <Field
          label={m.common.filter.find(label)}
          hideLabel
          placeholder={m.common.filter.find(label)}
          value={typed}
          onChange={setTyped}
          autoFocus
        />
      )}
      {!options && <p className={css.none}>{m.common.loading}</p>}
      {options && shown.length === 0 && <p className={css.none}>{m.common.filter.none}</p>}
      <ul className={css.values}>
        {shown.map((option) => (
          <Value
            key={option.value}
            option={option}
            chosen={chosen.find(({ value }) => value === option.value)}
            canExclude={!isSingle}
            onChange={(next) => put(option.value, next)}
          />
        ))}
      </ul>
      {chosen.length > 0 && (
        <Button look="quiet" onPress={() => become([])}>
          {m.common.filter.clear(label)}
        </Button>
      )}
    </Popover>
  )
}

type ValueProps = {
  option: Option
  chosen: Alternative | undefined
  canExclude: boolean
  onChange: (next: Alternative | undefined) => void
}

function Value({ option: { value, label, count }, chosen, canExclude, onChange }: ValueProps) {
  const isIn = chosen !== undefined && !chosen.not
  const isOut = chosen?.not === true
  return (
    <li className={css.value}>
      <label>
        <input type="checkbox" checked={isIn} onChange={() => onChange(isIn ? undefined : { value, not: false })} />
        <span className={css.name} data-out={isOut || undefined}>
          {label}
        </span>
        {count !== undefined && <span className={css.count}>{formatCount(count)}</span>}
      </label>
      {canExclude && (
        <button
          type="button"
          aria-pressed={isOut}
          aria-label={m.common.filter.exclude(label)}
          onClick={() => onChange(isOut ? undefined : { value, not: true })}
        >
          {m.common.filter.not}
        </button>
      )}
    </li>
  )
}

const asOf = (options: Option[] | undefined) => (value: string) =>
  options?.find((option) => option.value === value)?.label ?? value

function summary(label: string, chosen: Alternative[], labelOf: (value: string) => string): string {
  if (chosen.length === 0) return label
  const words = chosen.map(({ value, not }) => (not ? `${m.common.filter.not} ${labelOf(value)}` : labelOf(value)))
  const more = words.length - MOST_IN_CHIP
  return `${label}: ${words.slice(0, MOST_IN_CHIP).join(", ")}${more > 0 ? ` +${more}` : ""}`
}
