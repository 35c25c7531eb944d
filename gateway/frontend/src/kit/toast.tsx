import { sentenceOf } from "../api/sentence"
import { m } from "../messages"
import { store } from "../store"
import { Button } from "./button"
import css from "./toast.module.css"

type Toast = { id: number; text: string; isError: boolean; hasUndo: boolean }

const SHOWN_MS = 6000
const toasts = store<Toast[]>([])
/** Apart from the toasts: what React has shown last it keeps, and would with it keep all that an `undo` can see. */
const undos = new Map<number, () => unknown>()
let last = 0

/** Say shortly that something was done, with a way back; the newest of a kind replaces the one before. */
export function toast(text: string, options: { undo?: () => unknown; isError?: boolean } = {}): void {
  const id = ++last
  if (options.undo) undos.set(id, options.undo)
  toasts.set([
    ...toasts
      .get()
      .filter(({ isError }) => isError)
      .slice(-2),
    { id, text, isError: options.isError ?? false, hasUndo: options.undo !== undefined },
  ])
  // An error stays until somebody has read it.
  if (!options.isError) setTimeout(() => dismiss(id), SHOWN_MS)
}

/** Take the way back of what was said before: something that it does not know of is being done. */
export function endUndo(): void {
  for (const id of undos.keys()) dismiss(id)
}

/** Say what went wrong; `known` as `sentenceOf` takes it. */
export const complain = (error: unknown, known?: Record<string, string>): void =>
  toast(sentenceOf(error, known), { isError: true })

/** Say that something is done once it is, or what went wrong. */
export const tell = (work: Promise<unknown>, said: string): Promise<void> => work.then(() => toast(said), complain)

/** Where toasts are shown: once in the page. */
export function Toasts() {
  const shown = toasts.use()
  return (
    <div className={css.toasts}>
      <div role="status">{shown.filter(({ isError }) => !isError).map(card)}</div>
      <div role="alert">{shown.filter(({ isError }) => isError).map(card)}</div>
    </div>
  )
}

function card({ id, text, isError, hasUndo }: Toast) {
  return (
    <div key={id} className={css.toast} data-error={isError || undefined}>
      <span>{text}</span>
      {hasUndo && (
        <Button look="quiet" onPress={() => takeBack(id)}>
          {m.common.undo}
        </Button>
      )}
      {isError && (
        <Button look="quiet" onPress={() => dismiss(id)}>
          {m.common.close}
        </Button>
      )}
    </div>
  )
}

function takeBack(id: number): void {
  const undo = undos.get(id)
  dismiss(id)
  undo?.()
}

function dismiss(id: number): void {
  undos.delete(id)
  toasts.set(toasts.get().filter((one) => one.id !== id))
}
