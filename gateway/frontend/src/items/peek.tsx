import { ButtonLink } from "../kit/button"
import { Panel } from "../kit/panel"
import { NotYet } from "../kit/states"
import { m } from "../messages"
import { ItemFacts } from "./facts"
import { nameOf } from "./fields"
import css from "./item.module.css"
import { ItemText } from "./item-text"
import type { Kind } from "./kinds"
import { useItem } from "./use-item"

/** An item beside its list. */
export function Peek({ kind, id, close }: { kind: Kind; id: string; close: () => void }) {
  const query = useItem(kind, id)
  const { data } = query
  const name = data ? nameOf(data.item) : kind.words.one
  return (
    <Panel
      label={name}
      onClose={close}
      actions={<ButtonLink href={`${kind.path}/${id}`}>{m.items.detail.open}</ButtonLink>}
    >
      <NotYet query={query} />
      {data && (
        <div className={css.peek}>
          <header>
            <p className={css.id}>{data.item.external_id}</p>
            <h2>{data.item.title}</h2>
          </header>
          <ItemFacts kind={kind} item={data.item} />
          <ItemText kind={kind} item={data.item} />
        </div>
      )}
    </Panel>
  )
}
