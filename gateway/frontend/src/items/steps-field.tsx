import { type KeyboardEvent, useLayoutEffect, useRef } from "react"
import { Button } from "../kit/button"
import { Refusal } from "../kit/form"
import { m } from "../messages"
import css from "./form.module.css"

type Props = { steps: string[]; onChange: (steps: string[]) => void; error?: string }

/** The steps of a test case in their order: Enter begins the next one, Alt and an arrow move one. */
export function StepsField({ steps, onChange, error }: Props) {
  const list = useRef<HTMLOListElement>(null)
  const wanted = useRef<number>(undefined)
  const focus = (at: number) => {
    wanted.current = at
  }
  // Before the next key comes: what is typed on goes into the new step.
  useLayoutEffect(() => {
    if (wanted.current === undefined) return
    list.current?.querySelectorAll("textarea")[wanted.current]?.focus()
    wanted.current = undefined
  })
  function insert(at: number) {
    onChange(steps.toSpliced(at, 0, ""))
    focus(at)
  }
  function remove(at: number) {
    onChange(steps.toSpliced(at, 1))
    focus(Math.max(0, at - 1))
  }
  function move(at: number, by: -1 | 1) {
    const to = at + by
    if (to < 0 || to >= steps.length) return
    onChange(steps.with(at, steps[to] ?? "").with(to, steps[at] ?? ""))
    focus(to)
  }
  function onKeyDown(event: KeyboardEvent, at: number) {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key] as -1 | 1 | undefined
    const isNext = event.key === "Enter" && !event.shiftKey && !event.ctrlKey && !event.metaKey
    const isGone = event.key === "Backspace" && steps[at] === "" && steps.length > 1
    if (!isNext && !isGone && !(by && event.altKey)) return
    if (event.nativeEvent.isComposing) return
    event.preventDefault()
    if (isNext) insert(at + 1)
    else if (isGone) remove(at)
    else if (by) move(at, by)
  }
  return (
    <fieldset className={css.steps}>
      <legend>{m.items.fields.steps}</legend>
      <ol ref={list}>
        {steps.map((text, at) => (
          <li key={at} className={css.step}>
            <span className={css.number} aria-hidden="true">
              {at + 1}
            </span>
            <textarea
              aria-label={m.items.step(at + 1)}
              rows={1}
              value={text}
              onChange={(event) => onChange(steps.with(at, event.target.value))}
              onKeyDown={(event) => onKeyDown(event, at)}
            />
            <StepButton label={m.items.moveUp(at + 1)} sign="↑" isDisabled={at === 0} onClick={() => move(at, -1)} />
            <StepButton
              label={m.items.moveDown(at + 1)}
              sign="↓"
              isDisabled={at === steps.length - 1}
              onClick={() => move(at, 1)}
            />
            <StepButton label={m.items.removeStep(at + 1)} sign="✕" onClick={() => remove(at)} />
          </li>
        ))}
      </ol>
      {error && <Refusal>{error}</Refusal>}
      <Button onPress={() => insert(steps.length)}>{m.items.addStep}</Button>
    </fieldset>
  )
}

type ButtonProps = { label: string; sign: string; isDisabled?: boolean; onClick: () => void }

function StepButton({ label, sign, isDisabled, onClick }: ButtonProps) {
  return (
    <button type="button" aria-label={label} title={label} disabled={isDisabled} onClick={onClick}>
      <span aria-hidden="true">{sign}</span>
    </button>
  )
}
