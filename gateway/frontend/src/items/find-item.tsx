import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { Finder } from "../kit/finder"
import { m } from "../messages"
import { readRows } from "./api"
import type { ItemRow, Kind } from "./kinds"
import css from "./tab.module.css"

const words = m.items.link
const MOST = "20"

type Props = {
  kind: Kind
  label: string
  choose: (one: ItemRow) => void
  close: () => void
  /** Those that are linked already, and cannot be chosen. */
  linked?: ReadonlySet<string>
}

/** A search among requirements or test cases, one of which is chosen. */
export function FindItem({ kind, label, choose, close, linked }: Props) {
  const [text, setText] = useState("")
  const { data } = useQuery({
    queryKey: [kind.key, "find", text],
    queryFn: ({ signal }) => readRows(kind, { search: text, limit: MOST }, signal),
    enabled: text !== "",
    placeholderData: keepPreviousData,
  })
  return (
    <Finder
      label={label}
      placeholder={words.find}
      nothing={words.nothingFound}
      found={text === "" ? [] : data?.items}
      onType={setText}
      onChoose={choose}
      onClose={close}
      keyOf={({ id }) => id}
      isDisabled={({ id }) => linked?.has(id) ?? false}
    >
      {({ id, external_id, title }) => (
        <>
          <span className={css.id}>{external_id}</span>
          <span className={css.grow}>{title}</span>
          {linked?.has(id) && <span className={css.id}>{words.alreadyLinked}</span>}
        </>
      )}
    </Finder>
  )
}
