import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { Button } from "../kit/button"
import { Finder } from "../kit/finder"
import { useShortcuts } from "../kit/shortcuts"
import { complain, toast } from "../kit/toast"
import { m } from "../messages"
import { createLink, deleteLink, readRows } from "./api"
import { type Item, type ItemRow, type Kind, otherKind } from "./kinds"
import { useLinksChanged } from "./parts"
import css from "./tab.module.css"

const words = m.items.link
const MOST = "20"

/** A search at the other side; what is chosen is linked at once. */
export function AddLink({ kind, item, linked }: { kind: Kind; item: Item; linked: ReadonlySet<string> }) {
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useState("")
  const changed = useLinksChanged(kind)
  const other = otherKind(kind)
  useShortcuts([{ keys: "l", label: kind.words.addLink, run: () => setOpen(true) }])
  const { data } = useQuery({
    queryKey: [other.key, "find", text],
    queryFn: ({ signal }) => readRows(other, { search: text, limit: MOST }, signal),
    enabled: isOpen && text !== "",
    placeholderData: keepPreviousData,
  })
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
    <Finder
      label={kind.words.addLink}
      placeholder={words.find}
      nothing={words.nothingFound}
      found={text === "" ? [] : data?.items}
      onType={setText}
      onChoose={(one) => void add(one)}
      onClose={() => setOpen(false)}
      keyOf={(one) => one.id}
      isDisabled={(one) => linked.has(one.id)}
    >
      {(one) => (
        <>
          <span className={css.id}>{one.external_id}</span>
          <span className={css.grow}>{one.title}</span>
          {linked.has(one.id) && <span className={css.id}>{words.alreadyLinked}</span>}
        </>
      )}
    </Finder>
  )
}
