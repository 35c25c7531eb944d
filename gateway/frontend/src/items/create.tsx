import { useQueryClient } from "@tanstack/react-query"
import { useRef } from "react"
import { useLocation } from "wouter"
import { Dialog } from "../kit/dialog"
import { toast } from "../kit/toast"
import { createItem, type Patch } from "./api"
import { ItemForm } from "./form"
import type { Kind } from "./kinds"

/** A dialog that creates an item, and leads to it. */
export function Create({ kind, close }: { kind: Kind; close: () => void }) {
  const [, go] = useLocation()
  const client = useQueryClient()
  const sent = useRef({ body: "", key: "" })
  return (
    <Dialog title={kind.words.create} onClose={close} asks="if typed" wide>
      <ItemForm
        kind={kind}
        item={{}}
        button={kind.words.create}
        cancel={close}
        send={async (edits) => {
          const body = JSON.stringify(edits)
          // A try again after no answer is the same creation; another text is another.
          if (sent.current.body !== body) sent.current = { body, key: newKey() }
          const read = await createItem(kind, edits as Patch, sent.current.key)
          client.setQueryData([kind.key, "item", read.item.id], read)
          for (const part of ["rows", "total", "facets"]) void client.invalidateQueries({ queryKey: [kind.key, part] })
          toast(kind.words.created)
          go(`${kind.path}/${read.item.id}`)
        }}
      />
    </Dialog>
  )
}

/** Return a key that nobody else makes; `crypto.randomUUID` is there over https and on localhost only. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")
}
