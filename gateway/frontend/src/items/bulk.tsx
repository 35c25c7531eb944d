import { useState } from "react"
import { Button, ButtonLink } from "../kit/button"
import { useShortcuts } from "../kit/shortcuts"
import { formatCount, m } from "../messages"
import { words as results } from "../results/words"
import { changed } from "../url"
import type { Query } from "./api"
import { type BulkAction, BulkDialog } from "./bulk-dialog"
import { type Kind, TEST_CASES } from "./kinds"
import css from "./list.module.css"
import { useProjectFields } from "./project-fields"
import { countOf, NOTHING, type Selected } from "./selection"

const words = m.items.bulk
const FIELDS = ["status", "priority", "module", "tags"] as const

export type BulkProps = {
  kind: Kind
  query: Query
  /** How many match. */
  total: number
  selected: Selected
  become: (selected: Selected) => void
}

/** Return the query of running by hand what is selected. */
function sessionOf({ query, selected: { isAll, rows } }: BulkProps): string {
  const { sort: _, ...filters } = query
  return changed("", isAll ? { set: "every", kinds: "every", ...filters } : { ids: [...rows.keys()].join() })
}

/** What can be done with what is selected; nothing while nothing is. */
export function BulkBar(props: BulkProps) {
  const { kind, total, selected, become } = props
  const [action, setAction] = useState<BulkAction>()
  const own = useProjectFields(props.kind)
  const count = countOf(selected, total)
  const isShown = count > 0
  useShortcuts(
    isShown && !action ? [{ keys: "Escape", label: m.items.clearSelection, run: () => become(NOTHING) }] : [],
  )
  if (!isShown && !action) return null
  return (
    <section className={css.bulk} aria-label={words.label}>
      <output>{selected.isAll ? m.items.allSelected(formatCount(count)) : m.items.selected(formatCount(count))}</output>
      {FIELDS.map((field) => (
        <Button key={field} onPress={() => setAction(field)}>
          {m.items.fields[field]}
        </Button>
      ))}
      {own.length > 0 && <Button onPress={() => setAction("field")}>{m.fields.other}</Button>}
      {kind === TEST_CASES && <ButtonLink href={`/results/session?${sessionOf(props)}`}>{results.byHand}</ButtonLink>}
      <Button look="danger" onPress={() => setAction("delete")}>
        {m.common.delete}
      </Button>
      <Button look="quiet" onPress={() => become(NOTHING)}>
        {m.items.clearSelection}
      </Button>
      {action && <BulkDialog key={action} {...props} action={action} close={() => setAction(undefined)} />}
    </section>
  )
}
