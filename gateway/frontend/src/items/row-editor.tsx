import { type KeyboardEvent, useEffect, useRef, useState } from "react"
import { InlineSelect } from "../kit/inline-select"
import type { Column } from "../kit/table"
import { complain } from "../kit/toast"
import { m } from "../messages"
import { optionsOf } from "./fields"
import type { ItemRow, Kind } from "./kinds"
import css from "./list.module.css"
import type { useSave } from "./save"

type Props = {
  kind: Kind
  row: ItemRow
  columns: Column<ItemRow>[]
  /** The column in which it begins. */
  focused: string | undefined
  save: ReturnType<typeof useSave>[0]
  close: (returnsFocus: boolean) => void
}

/** Title, status and priority of a row, edited in place: Enter or leaving the row saves, Escape does not. */
export function RowEditor({ kind, row, columns, focused, save, close }: Props) {
  const [title, setTitle] = useState(row.title)
  const [status, setStatus] = useState(row.status)
  const [priority, setPriority] = useState(row.priority)
  const place = useRef<HTMLSpanElement>(null)
  const isOver = useRef(false)
  const begin = focused === "status" || focused === "priority" ? focused : "title"
  useEffect(() => {
    const field = place.current?.parentElement?.querySelector<HTMLElement>(`[data-column=${begin}] :is(input, select)`)
    field?.focus()
  }, [begin])

  function end(keeps: boolean, returnsFocus: boolean) {
    if (isOver.current) return
    isOver.current = true
    close(returnsFocus)
    if (!keeps) return
    save({ item: row, etag: row.etag }, { title: title.trim(), status, priority }).catch(complain)
  }
  function onKeyDown(event: KeyboardEvent) {
    if ((event.key !== "Enter" && event.key !== "Escape") || event.nativeEvent.isComposing) return
    event.preventDefault()
    event.stopPropagation()
    end(event.key === "Enter", true)
  }
  const editors: Record<string, () => React.ReactNode> = {
    title: () => (
      <input
        className={css.input}
        aria-label={m.items.fields.title}
        value={title}
        maxLength={500}
        onChange={(event) => setTitle(event.target.value)}
      />
    ),
    status: () => (
      <InlineSelect
        label={m.items.fields.status}
        value={status}
        options={optionsOf(kind, "status")}
        onChange={setStatus}
      />
    ),
    priority: () => (
      <InlineSelect
        label={m.items.fields.priority}
        value={priority}
        options={optionsOf(kind, "priority")}
        onChange={(value) => setPriority(value as ItemRow["priority"])}
      />
    ),
  }
  return (
    <>
      {columns.map(({ id, cell, isNumber }, at) => (
        // biome-ignore lint/a11y/useSemanticElements: as the other cells of this grid
        // biome-ignore lint/a11y/useFocusableInteractive: what is in it has the focus
        <span
          key={id}
          ref={at === 0 ? place : undefined}
          role="gridcell"
          data-column={id}
          data-number={isNumber || undefined}
          onKeyDown={onKeyDown}
          onBlur={({ relatedTarget, currentTarget }) => {
            if (!currentTarget.parentElement?.contains(relatedTarget)) end(true, false)
          }}
        >
          {editors[id]?.() ?? cell(row)}
        </span>
      ))}
    </>
  )
}
