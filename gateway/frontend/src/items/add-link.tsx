import { useState } from "react"
import { Button } from "../kit/button"
import { useShortcuts } from "../kit/shortcuts"
import { complain, toast } from "../kit/toast"
import { m } from "../messages"
import { createLink, deleteLink } from "./api"
import { FindItem } from "./find-item"
import { type Item, type ItemRow, type Kind, otherKind } from "./kinds"
import { useLinksChanged } from "./parts"

const words = m.items.link

/** A search at the other side; what is chosen is linked at once. */
export function AddLink({ kind, item, linked }: { kind: Kind; item: Item; linked: ReadonlySet<string> }) {
  const [isOpen, setOpen] = useState(false)
  const changed = useLinksChanged(kind)
  const other = otherKind(kind)
  useShortcuts([{ keys: "l", label: kind.words.addLink, run: () => setOpen(true) }])
  async function add(one: ItemRow) {
    const ends: [string, string] = kind.name === "requirement" ? [item.id, one.id] : [one.id, item.id]
    try {
      const { id } = await createLink(...ends)
      toast(words.added, { undo: () => void deleteLink(id).finally(changed) })
    } catch (error) {
      complain(error)
    }
    changed()
  }
  if (!isOpen) {
    return (
      <div>
        <Button keys="l" onPress={() => setOpen(true)}>
          {kind.words.addLink}
        </Button>
      </div>
    )
  }
  return (
    <FindItem
      kind={other}
      label={kind.words.addLink}
      choose={(one) => void add(one)}
      close={() => setOpen(false)}
      linked={linked}
    />
  )
}
