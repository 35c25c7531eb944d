import { Link } from "wouter"
import { type Kind, otherKind, REQUIREMENTS, TEST_CASES } from "../items/kinds"
import { useLinked } from "../items/parts"
import { Notice } from "../kit/dialog"
import { capitalised, m } from "../messages"
import css from "./both.module.css"
import type { Pair } from "./queue"

const MOST = 50

/** Both items with what they are linked to already, a glance beside the pair, and the way to each. */
export function Both({ pair, close }: { pair: Pair; close: () => void }) {
  return (
    <Notice title={m.review.both.title} close={close} wide>
      <div className={css.both}>
        <Item kind={REQUIREMENTS} item={pair.requirement} label={m.review.both.linkedTests} />
        <Item kind={TEST_CASES} item={pair.test_case} label={m.review.both.linkedRequirements} />
      </div>
    </Notice>
  )
}

type Props = { kind: Kind; item: Pair["requirement"]; label: (count: number) => string }

function Item({ kind, item, label }: Props) {
  const { data } = useLinked(kind, item.id)
  return (
    <section className={css.item}>
      <p className={css.kind}>
        {[capitalised(kind.words.one), item.external_id, item.module].filter(Boolean).join(" · ")}
      </p>
      <h3>
        <Link href={`${kind.path}/${item.id}`}>{item.title}</Link>
      </h3>
      <p className={css.kind}>{data ? label(data.total) : m.common.loading}</p>
      <ul>
        {data?.items.slice(0, MOST).map(({ id, external_id, title }) => (
          <li key={id}>
            <Link href={`${otherKind(kind).path}/${id}`}>{[external_id, title].filter(Boolean).join(" ")}</Link>
          </li>
        ))}
      </ul>
    </section>
  )
}
