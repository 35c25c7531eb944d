import { useQueryClient } from "@tanstack/react-query"
import { useLocation } from "wouter"
import { Ask } from "../kit/form"
import { toast } from "../kit/toast"
import { m } from "../messages"
import { deleteItem, type Read } from "./api"
import type { Kind } from "./kinds"
import { backTo } from "./memory"
import { useLinked, useSuggestions } from "./parts"

const words = m.items.remove

/** Asks before an item is deleted, and says what goes with it. */
export function RemoveDialog({ kind, read, name, close }: { kind: Kind; read: Read; name: string; close: () => void }) {
  const links = useLinked(kind, read.item.id).data?.total ?? 0
  const suggestions = useSuggestions(kind, read.item.id).data?.total ?? 0
  const client = useQueryClient()
  const [, go] = useLocation()
  async function remove() {
    await deleteItem(kind, read.item.id, read.etag)
    toast(words.done(name))
    for (const part of ["rows", "total", "facets"]) void client.invalidateQueries({ queryKey: [kind.key, part] })
    go(backTo(kind))
  }
  return (
    <Ask
      role="alertdialog"
      title={words.title(name)}
      action={m.common.delete}
      look="danger"
      focus="cancel"
      run={remove}
      close={close}
    >
      <p>{links + suggestions > 0 ? words.hint(links, suggestions) : words.alone}</p>
    </Ask>
  )
}
