import { useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useMemo, useRef } from "react"
import { nameOfField } from "../items/fields"
import { Button } from "../kit/button"
import { m } from "../messages"
import { type Group, linesOf, type SuspectLink } from "./groups"
import css from "./page.module.css"

const HEADING_PX = 60
const ROW_PX = 44
const LINES_BEFORE_THE_END = 20

type Props = {
  groups: Group[]
  current: string | undefined
  choose: (id: string) => void
  confirmAll: ((group: Group) => void) | undefined
  more: () => void
}

/** The suspect links, a heading a change; only what can be seen is in the document. */
export function SuspectList({ groups, current, choose, confirmAll, more }: Props) {
  const lines = useMemo(() => linesOf(groups), [groups])
  const box = useRef<HTMLElement>(null)
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: (place) => (lines[place]?.link ? ROW_PX : HEADING_PX),
    getItemKey: (place) => lines[place]?.link?.id ?? lines[place]?.group.key ?? place,
    overscan: 10,
    useFlushSync: false,
  })
  const shown = rows.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (last > lines.length - LINES_BEFORE_THE_END) more()
  }, [last, lines.length, more])
  const place = lines.findIndex(({ link }) => link?.id === current)
  useEffect(() => {
    if (place >= 0) rows.scrollToIndex(place, { align: "auto" })
  }, [place, rows])
  return (
    <section className={css.list} ref={box} aria-label={m.suspect.list}>
      <div className={css.rows} style={{ blockSize: rows.getTotalSize() }}>
        {shown.map(({ key, index, start, size }) => {
          const line = lines[index]
          if (!line) return null
          return (
            <div key={key} className={css.line} style={{ insetBlockStart: start, blockSize: size }}>
              {line.link ? (
                <LinkRow link={line.link} group={line.group} isCurrent={line.link.id === current} choose={choose} />
              ) : (
                <Heading group={line.group} confirmAll={confirmAll} />
              )}
            </div>
          )
        })}
      </div>
    </section>
  )
}

function Heading({ group, confirmAll }: { group: Group; confirmAll: ((group: Group) => void) | undefined }) {
  const { item, version, fields, links } = group
  return (
    <div className={css.heading}>
      <h2 title={item.title}>{item.external_id ?? item.title}</h2>
      <p>{m.suspect.change(version, fields.map((field) => nameOfField(field).toLowerCase()).join(", "))}</p>
      {confirmAll && links.length > 1 && (
        <Button look="quiet" onPress={() => confirmAll(group)}>
          {m.suspect.confirmAll(links.length)}
        </Button>
      )}
    </div>
  )
}

type RowProps = { link: SuspectLink; group: Group; isCurrent: boolean; choose: (id: string) => void }

function LinkRow({ link, group, isCurrent, choose }: RowProps) {
  const other = group.item.id === link.requirement.id ? link.test_case : link.requirement
  return (
    <button type="button" className={css.row} aria-current={isCurrent || undefined} onClick={() => choose(link.id)}>
      <span className={css.id}>{other.external_id}</span> {other.title}
    </button>
  )
}
