import { Badge } from "../kit/badge"
import { Button } from "../kit/button"
import { InlineSelect } from "../kit/inline-select"
import { complain } from "../kit/toast"
import { formatCount, m } from "../messages"
import { useMay } from "../session/session"
import { AddLink } from "./add-link"
import { changeLinkType, type Detail, type LinkType, type OneLink } from "./api"
import { nameOf } from "./fields"
import { type Item, type Kind, LINK_TYPES, otherKind, word } from "./kinds"
import { Origin } from "./origin"
import { useLinksChanged } from "./parts"
import { ItemLink } from "./rows"
import css from "./tab.module.css"
import { unlink, useUnlinked } from "./unlinking"

const words = m.items.link
const TYPES = LINK_TYPES.map((value) => ({ value, label: word(value) }))

/** What an item is linked with, how, and who says so. */
export function ItemLinks({ kind, item, links }: { kind: Kind; item: Item; links: Detail["links"] }) {
  const mayWrite = useMay("reviewer")
  const gone = useUnlinked()
  const other = otherKind(kind)
  const shown = links.items.filter(({ id }) => !gone.has(id))
  return (
    <section className={css.tab} aria-label={m.items.detail.links}>
      <h2>
        {m.items.detail.links} <span className={css.none}>{formatCount(links.total)}</span>
      </h2>
      {mayWrite && <AddLink kind={kind} item={item} linked={new Set(shown.map((link) => link[other.name].id))} />}
      {shown.length === 0 && <p className={css.none}>{kind.words.noLinks}</p>}
      <ul className={css.rows}>
        {shown.map((link) => (
          <LinkRow key={link.id} kind={kind} link={link} mayWrite={mayWrite} />
        ))}
      </ul>
      {links.total > links.items.length && (
        <p className={css.none}>{m.items.trace.more(formatCount(links.total - links.items.length))}</p>
      )}
    </section>
  )
}

function LinkRow({ kind, link, mayWrite }: { kind: Kind; link: OneLink; mayWrite: boolean }) {
  const changed = useLinksChanged(kind)
  const linked = link[otherKind(kind).name]
  const name = nameOf(linked)
  const change = (type: LinkType) => {
    changeLinkType(link.id, type).catch(complain).finally(changed)
  }
  return (
    <li className={css.row}>
      <ItemLink path={otherKind(kind).path} item={linked} />
      <div className={css.about}>
        {mayWrite ? (
          <InlineSelect label={words.typeOf(name)} value={link.link_type} options={TYPES} onChange={change} />
        ) : (
          <span>{word(link.link_type)}</span>
        )}
        <Origin link={link} />
        {link.suspect && (
          <span title={link.suspect_reason?.summary ?? undefined}>
            <Badge state="suspect">{words.suspect}</Badge>
          </span>
        )}
        {mayWrite && (
          <Button look="quiet" aria-label={words.unlinkFrom(name)} onPress={() => unlink(link.id, changed)}>
            {words.unlink}
          </Button>
        )}
      </div>
    </li>
  )
}
