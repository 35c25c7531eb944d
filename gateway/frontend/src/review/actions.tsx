import { memo, useMemo, useRef, useState } from "react"
import { LINK_TYPES } from "../items/kinds"
import { Button } from "../kit/button"
import { Choice } from "../kit/choice"
import { Field } from "../kit/field"
import { useShortcuts } from "../kit/shortcuts"
import { m } from "../messages"
import css from "./actions.module.css"
import type { Decision, Pair } from "./queue"
import type { LinkType } from "./use-review"

/** What is chosen and written for a pair before it is decided on. */
type Draft = { pair: string; linkType: LinkType; note?: string | undefined }

type Props = {
  pair: Pair
  isTaken: boolean
  canUndo: boolean
  decide: (decision: Decision, how?: { linkType?: LinkType; feedback?: string }) => void
  undo: () => void
}

/** What a reviewer does with the pair that is read: one key each, or one button. */
export function Actions({ pair, isTaken, canUndo, decide, undo }: Props) {
  // What was chosen for one pair is not meant for the next.
  const [last, setLast] = useState<Draft>()
  const draft = last?.pair === pair.id ? last : { pair: pair.id, linkType: "covers" as const }
  const { linkType, note } = draft
  const [isMoreOpen, setMoreOpen] = useState(false)
  const change = (some: Partial<Draft>) => setLast({ ...draft, ...some })
  const feedback = note?.trim() || undefined
  const accept = () => decide("accepted", { linkType, ...(feedback && { feedback }) })
  const reject = () => decide("rejected", feedback ? { feedback } : {})
  const skip = () => decide("skipped")
  const latest = useRef<Does>(null)
  latest.current = { accept, reject, skip, undo, more: () => setMoreOpen(!isMoreOpen) }
  const does = useMemo<Does>(
    () => ({
      accept: () => latest.current?.accept(),
      reject: () => latest.current?.reject(),
      skip: () => latest.current?.skip(),
      undo: () => latest.current?.undo(),
      more: () => latest.current?.more(),
    }),
    [],
  )
  useShortcuts([
    { keys: "a", label: m.review.keys.accept, run: accept },
    { keys: "x", label: m.review.keys.reject, run: reject },
    { keys: "s", label: m.review.keys.skip, run: skip },
    ...LINK_TYPES.map((type, at) => ({
      keys: String(at + 1),
      label: m.review.keys.linkType(m.items.values[type]),
      run: () => change({ linkType: type }),
    })),
    { keys: "n", label: m.review.keys.note, run: () => change({ note: note ?? "" }) },
  ])
  return (
    <div className={css.actions} data-open={isMoreOpen || undefined}>
      {note !== undefined && (
        <Note note={note} change={(text) => change({ note: text })} close={() => change({ note: feedback })} />
      )}
      <div className={css.how}>
        <Choice
          label={m.review.linkType}
          value={linkType}
          options={LINK_TYPES.map((type, at) => ({
            value: type,
            label: m.items.values[type],
            keys: String(at + 1),
          }))}
          onChange={(type) => change({ linkType: type })}
        />
        <Button look="quiet" keys="n" onPress={() => change({ note: note ?? "" })}>
          {feedback ? m.review.noteThere : m.review.note}
        </Button>
      </div>
      <Decide
        does={does}
        count={1 + (pair.variants?.length ?? 0)}
        isTaken={isTaken}
        canUndo={canUndo}
        isMoreOpen={isMoreOpen}
      />
    </div>
  )
}

type Does = Record<"accept" | "reject" | "skip" | "undo" | "more", () => void>

type DecideProps = {
  does: Does
  /** How many pairs are decided on: that which is read and its variants. */
  count: number
  isTaken: boolean
  canUndo: boolean
  isMoreOpen: boolean
}

/** The buttons of a decision; they stay as they are from pair to pair, and so does the focus. */
const Decide = memo(function Decide({ does, count, isTaken, canUndo, isMoreOpen }: DecideProps) {
  return (
    <div className={css.decide}>
      <div className={css.narrow}>
        <Button look="quiet" aria-expanded={isMoreOpen} onPress={does.more}>
          {m.review.more}
        </Button>
      </div>
      <Button look="quiet" keys="u" isDisabled={!canUndo} onPress={does.undo}>
        {m.common.undo}
      </Button>
      <Button keys="s" onPress={does.skip}>
        {m.review.skip}
      </Button>
      <Button keys="x" isDisabled={isTaken} onPress={does.reject}>
        {count > 1 ? m.review.rejectMany(count) : m.review.reject}
      </Button>
      <Button look="primary" keys="a" isDisabled={isTaken} onPress={does.accept}>
        {count > 1 ? m.review.acceptMany(count) : m.review.accept}
      </Button>
    </div>
  )
})

function Note({ note, change, close }: { note: string; change: (note: string) => void; close: () => void }) {
  return (
    <Field
      label={m.review.noteLabel}
      hint={m.review.noteHint}
      lines={2}
      autoFocus
      value={note}
      onChange={change}
      onBlur={() => note.trim() === "" && close()}
      onKeyDown={(event) => {
        if (event.key !== "Escape" && !(event.key === "Enter" && !event.shiftKey)) return
        if (event.nativeEvent.isComposing) return
        event.preventDefault()
        if (event.target instanceof HTMLElement) event.target.blur()
        close()
      }}
    />
  )
}
