import { useMemo } from "react"
import { m } from "../messages"
import css from "./diff.module.css"
import { type Segment, segmentsOf } from "./segments"

/** What changed in a text: inserted and deleted words by colour, underline or strike, and a sign. */
export function Diff(props: { segments: Segment[] } | { before: string; after: string }) {
  const segments = useMemo(
    () => ("segments" in props ? props.segments : segmentsOf(props.before, props.after)),
    [props],
  )
  return (
    <p className={css.diff}>
      {segments.map(({ op, text }, place) => {
        if (op === "equal") return <span key={place}>{text}</span>
        const Tag = op === "insert" ? "ins" : "del"
        return (
          <Tag key={place}>
            <span className={css.sign} aria-hidden="true">
              {op === "insert" ? "+" : "−"}
            </span>
            <span className="visually-hidden">{op === "insert" ? m.common.inserted : m.common.deleted}</span>
            {text}
          </Tag>
        )
      })}
    </p>
  )
}
