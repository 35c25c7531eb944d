import { type FormEvent, type ReactNode, useState } from "react"
import { ApiProblem } from "../api/problem"
import { sentenceOf } from "../api/sentence"
import { m } from "../messages"
import { Button } from "./button"
import { Dialog, DialogButtons, type DialogProps } from "./dialog"
import css from "./dialog.module.css"

type Known = Record<string, string>

/** Have a form do its work, and say what went wrong: at the fields that a problem names, or else in `failure`. */
export function useForm(work: () => unknown, known?: Known) {
  const [isSending, setSending] = useState(false)
  const [error, setError] = useState<unknown>()
  async function onSubmit(event: FormEvent) {
    event.preventDefault()
    const { currentTarget: form, nativeEvent } = event
    setSending(true)
    setError(undefined)
    try {
      await work()
    } catch (thrown) {
      setError(thrown)
      // Once that is shown: what is wrong may be out of sight, and a button loses the focus while it waits.
      requestAnimationFrame(() => {
        const wrong = form.querySelector<HTMLElement>("[aria-invalid=true]")
        const place = wrong ?? (nativeEvent as SubmitEvent).submitter
        place?.focus()
      })
    } finally {
      setSending(false)
    }
  }
  const fields = error instanceof ApiProblem ? error.fields : {}
  const failure =
    error === undefined || Object.keys(fields).length > 0 ? null : <Refusal>{sentenceOf(error, known)}</Refusal>
  return { isSending, fields, failure, onSubmit }
}

/** Keep what the fields of a form say; `of` returns what the field with a name takes, by `errors` what is wrong with it. */
export function useFields<T extends Record<string, string>>(first: T) {
  const [values, setValues] = useState(first)
  const of = <K extends keyof T & string>(name: K, errors: Record<string, string> = {}) => ({
    value: values[name],
    error: Object.entries(errors).find(([pointer]) => `${pointer}/`.startsWith(`/${name}/`))?.[1],
    onChange: (value: T[K]) => setValues((before) => ({ ...before, [name]: value })),
  })
  return { values, of, clear: () => setValues(first) }
}

/** Why something was not done. */
export function Refusal({ children }: { children: ReactNode }) {
  return (
    <p className={css.refusal} role="alert">
      {children}
    </p>
  )
}

type Props = Omit<DialogProps, "onClose" | "children"> & {
  /** What the button says that does it. */
  action: string
  cancel?: string
  look?: "primary" | "danger"
  /** What it does; what this throws is said, in the words of `known` where it has some. */
  run: () => unknown
  known?: Known
  isReady?: boolean
  close: () => void
  /** The button that has the focus at first, where no field has. */
  focus?: "cancel" | "action"
  /** What is asked; as a function, of what is wrong with each field. */
  children?: ReactNode | ((fields: Record<string, string>) => ReactNode)
}

/** A dialog that asks before something is done, or for what that needs. */
export function Ask({ action, cancel, look = "primary", run, known, isReady = true, close, ...props }: Props) {
  const { asks = props.role === "alertdialog" ? "never" : "if typed", focus, children, ...dialog } = props
  const { isSending, fields, failure, onSubmit } = useForm(run, known)
  return (
    <Dialog {...dialog} onClose={close} asks={asks}>
      <form className={css.form} onSubmit={(event) => (isReady ? void onSubmit(event) : event.preventDefault())}>
        {typeof children === "function" ? children(fields) : children}
        {failure}
        <DialogButtons>
          <Button autoFocus={focus === "cancel"} onPress={close}>
            {cancel ?? m.common.cancel}
          </Button>
          <Button type="submit" look={look} autoFocus={focus === "action"} isDisabled={!isReady || isSending}>
            {action}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  )
}
