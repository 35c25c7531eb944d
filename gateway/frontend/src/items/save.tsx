import { useQueryClient } from "@tanstack/react-query"
import { type ReactNode, useState } from "react"
import { ApiProblem } from "../api/problem"
import { type Detail, patchItem, type Read, readItem } from "./api"
import { ClashDialog } from "./clash"
import type { Item, ItemRow, Kind } from "./kinds"
import { type Edits, patchOf, touched } from "./merge"
import { useReplaceRow } from "./windows"

const STALE = 412

type Base = { item: Partial<Item> & { id: string }; etag: string }
type Clash = { base: Base; edits: Edits; theirs: Read; done: (saved: Read | undefined) => void }

/**
 * Return a function that saves edits of an item, and the dialog that it opens when somebody else was faster.
 *
 * The function gives the item as it is then, undefined when the person left it at that; it throws other problems.
 */
export function useSave(kind: Kind): [(base: Base, edits: Edits) => Promise<Read | undefined>, ReactNode] {
  const [clash, setClash] = useState<Clash>()
  const client = useQueryClient()
  const replace = useReplaceRow(kind)

  function show(read: Read) {
    client.setQueryData([kind.key, "item", read.item.id], read)
    client.setQueryData<Detail>([kind.key, "detail", read.item.id], (before) => before && { ...before, ...read })
  }

  async function save(base: Base, edits: Edits): Promise<Read | undefined> {
    const patch = patchOf(base.item, edits)
    if (Object.keys(patch).length === 0) return { item: base.item as Item, etag: base.etag }
    replace(base.item.id, rowEditsOf(edits))
    try {
      const saved = await patchItem(kind, base.item.id, patch, base.etag)
      show(saved)
      replace(base.item.id, rowOf(saved))
      for (const queryKey of [[kind.key, "facets"], [kind.key, "links"], [kind.key, "detail"], ["history"]]) {
        void client.invalidateQueries({ queryKey })
      }
      return saved
    } catch (error) {
      replace(base.item.id, rowEditsOf(base.item))
      if (!(error instanceof ApiProblem && error.status === STALE)) throw error
      const theirs = await readItem(kind, base.item.id)
      return new Promise((done) => setClash({ base, edits: touched(base.item, edits), theirs, done }))
    }
  }

  const dialog = clash && (
    <ClashDialog
      base={clash.base.item}
      edits={clash.edits}
      theirs={clash.theirs.item}
      onCancel={() => {
        setClash(undefined)
        show(clash.theirs)
        replace(clash.base.item.id, rowOf(clash.theirs))
        clash.done(undefined)
      }}
      onSave={async (edits) => {
        const saved = await save({ item: clash.theirs.item, etag: clash.theirs.etag }, edits)
        setClash(undefined)
        clash.done(saved)
      }}
    />
  )
  return [save, dialog]
}

const IN_ROWS = ["external_id", "title", "module", "status", "priority", "tags", "updated_at"] as const

const rowOf = ({ item, etag }: Read): Partial<ItemRow> => ({ ...rowEditsOf(item), etag })

/** Return what rows of lists show of an item, or of edits. */
function rowEditsOf(item: Edits): Partial<ItemRow> {
  return Object.fromEntries(IN_ROWS.flatMap((field) => (field in item ? [[field, item[field]]] : [])))
}
