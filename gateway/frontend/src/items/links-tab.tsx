import type { UseQueryResult } from "@tanstack/react-query"
import { Badge } from "../kit/badge"
import { Button } from "../kit/button"
import { InlineSelect } from "../kit/inline-select"
import { NotYet } from "../kit/states"
import { complain } from "../kit/toast"
import { m } from "../messages"
import { useMay } from "../session/session"
import { AddLink } from "./add-link"
import { changeLinkType, type Linked, type Linkeds, type LinkType } from "./api"
import { nameOf } from "./fields"
import { type Item, type Kind, LINK_TYPES, otherKind, word } from "./kinds"
import { Origin } from "./origin"
import { useLinksChanged } from "./parts"
import { ItemLink } from "./rows"
import css from "./tab.module.css"
import { unlink, useUnlinked } from "./unlinking"

const words = m.items.link
const TYPES = LINK_TYPES.map((value) => ({ value, label: word(value) }))

/** What an item is linked with, and how. */
export function LinksTab({ kind, item, query }: { kind: Kind; item: Item; query: UseQueryResult<Linkeds> }) {
  const mayWrite = useMay("reviewer")
  const gone = useUnlinked()
  const shown = query.data?.items.filter(({ link_id }) => !gone.has(link_id))
  return (
    <div className={css.tab}>
      {mayWrite && <AddLink kind={kind} item={item} linked={new Set(shown?.map(({ id }) => id))} />}
      <NotYet query={query} rows={3} />
      {shown?.length === 0 && <p className={css.none}>{kind.words.noLinks}</p>}
      <ul className={css.rows}>
        {shown?.map((linked) => (
          <LinkRow key={linked.link_id} kind={kind} linked={linked} mayWrite={mayWrite} />
        ))}
      </ul>
    </div>
  )
}

function LinkRow({ kind, linked, mayWrite }: { kind: Kind; linked: Linked; mayWrite: boolean }) {
  const changed = useLinksChanged(kind)
  const name = nameOf(linked)
  const change = (type: LinkType) => {
    changeLinkType(linked.link_id, type).catch(complain).finally(changed)
  }
  return (
    <li className={css.row}>
      <ItemLink path={otherKind(kind).path} item={linked} />
      <div className={css.about}>
        {mayWrite ? (
          <InlineSelect label={words.typeOf(name)} value={linked.link_type} options={TYPES} onChange={change} />
        ) : (
          <span>{word(linked.link_type)}</span>
        )}
        <Origin link={linked.link} />
        {linked.suspect && (
          <span title={linked.link.suspect_reason?.summary ?? undefined}>
            <Badge state="suspect">{words.suspect}</Badge>
          </span>
        )}
        {mayWrite && (
          <Button look="quiet" aria-label={words.unlinkFrom(name)} onPress={() => unlink(linked.link_id, changed)}>
            {words.unlink}
          </Button>
        )}
      </div>
    </li>
  )
}
