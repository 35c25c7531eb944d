import type { ComponentProps } from "react"
import css from "./changes.module.css"
import { Diff } from "./diff"

export type Change = { field: string; name: string; diff: ComponentProps<typeof Diff> }

/** What changed in some fields, each with its name above what it said and says. */
export function Changes({ changes }: { changes: Change[] }) {
  return (
    <dl className={css.changes}>
      {changes.map(({ field, name, diff }) => (
        <div key={field}>
          <dt>{name}</dt>
          <dd>
            <Diff {...diff} />
          </dd>
        </div>
      ))}
    </dl>
  )
}
