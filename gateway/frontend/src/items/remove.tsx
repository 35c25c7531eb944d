import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { useLocation } from "wouter"
import { Button } from "../kit/button"
import { Dialog, DialogButtons } from "../kit/dialog"
import { toast } from "../kit/toast"
import { formatCount, m } from "../messages"
import { deleteItem, type Read } from "./api"
import { sentenceOf } from "./fields"
import type { Kind } from "./kinds"
import { backTo } from "./memory"
import { useLinked, useSuggestions } from "./parts"
import css from "./tab.module.css"

const words = m.items.remove

/** Asks before an item is deleted, and says what goes with it. */
export function RemoveDialog({ kind, read, name, close }: { kind: Kind; read: Read; name: string; close: () => void }) {
  const links = useLinked(kind, read.item.id).data?.total ?? 0
  const suggestions = useSuggestions(kind, read.item.id).data?.total ?? 0
  const [isSending, setSending] = useState(false)
  const [failure, setFailure] = useState<string>()
  const client = useQueryClient()
  const [, go] = useLocation()
  async function remove() {
    setSending(true)
    try {
      await deleteItem(kind, read.item.id, read.etag)
      toast(words.done(name))
      for (const part of ["rows", "total", "facets"]) void client.invalidateQueries({ queryKey: [kind.key, part] })
      go(backTo(kind))
    } catch (error) {
      setFailure(sentenceOf(error))
      setSending(false)
    }
  }
  return (
    <Dialog title={words.title(name)} role="alertdialog" isOpen onClose={close}>
      <p>{links + suggestions > 0 ? words.hint(formatCount(links), formatCount(suggestions)) : words.alone}</p>
      {failure && (
        <p role="alert" className={css.failure}>
          {failure}
        </p>
      )}
      <DialogButtons>
        <Button autoFocus onPress={close}>
          {m.common.cancel}
        </Button>
        <Button look="danger" isDisabled={isSending} onPress={() => void remove()}>
          {m.common.delete}
        </Button>
      </DialogButtons>
    </Dialog>
  )
}
