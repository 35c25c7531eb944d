import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { Ago } from "../kit/ago"
import { Changes } from "../kit/changes"
import { useEndless } from "../kit/endless"
import { InlineSelect } from "../kit/inline-select"
import { Failure, NotYet } from "../kit/states"
import { m, people } from "../messages"
import { type History, readHistory } from "./api"
import { changeOf, nameOfField } from "./fields"
import type { Item, Kind } from "./kinds"
import { More } from "./rows"
import css from "./tab.module.css"

const words = m.items.history
const PAGE = 20

type Entry = History["items"][number]

/** Every change of an item with each field before and after, and what two versions of it differ in. */
export function HistoryTab({ kind, item }: { kind: Kind; item: Item }) {
  const list = useEndless(["history", item.id], ({ skip = 0 }, signal) =>
    readHistory(kind, item.id, { skip, limit: PAGE }, signal),
  )
  return (
    <div className={css.tab}>
      {item.version > 1 && <Versions key={item.version} kind={kind} item={item} />}
      <NotYet query={list.query} rows={3} />
      <ol className={css.entries} aria-label={words.every}>
        {list.rows?.map((entry) => (
          <li key={`${entry.occurred_at} ${entry.action}`}>
            <HistoryEntry entry={entry} />
          </li>
        ))}
      </ol>
      <More list={list} />
    </div>
  )
}

function HistoryEntry({ entry: { action, actor, occurred_at, from_version, to_version, changes } }: { entry: Entry }) {
  const isNewVersion = to_version !== null && to_version !== from_version
  return (
    <details className={css.entry} open={action === "updated"}>
      <summary>
        <span>{words[action](actor ? people(actor) : words.somebody)}</span>
        {isNewVersion && <span className={css.version}>{words.version(to_version)}</span>}
        <span className={css.none}>
          <Ago iso={occurred_at} />
        </span>
      </summary>
      <div className={css.changes}>
        <Changes
          changes={Object.entries(changes).map(([field, { before, after }]) => changeOf(field, before, after))}
        />
      </div>
    </details>
  )
}

/** What two versions say differently; at first the present one and the one before. */
function Versions({ kind, item }: { kind: Kind; item: Item }) {
  const [from, setFrom] = useState(item.version - 1)
  const [to, setTo] = useState(item.version)
  const { data, error } = useQuery({
    queryKey: ["history", item.id, from, to],
    queryFn: ({ signal }) => readHistory(kind, item.id, { from, to, limit: 1 }, signal),
    placeholderData: (before) => before,
  })
  const options = Array.from({ length: item.version }, (_, place) => {
    const value = String(item.version - place)
    return { value, label: words.version(item.version - place) }
  })
  const differences = Object.entries(data?.differences ?? {})
  return (
    <section className={css.versions} aria-label={words.compare}>
      <p>
        {words.from}{" "}
        <InlineSelect
          label={words.from}
          value={String(from)}
          options={options}
          onChange={(one) => setFrom(Number(one))}
        />{" "}
        {words.to}{" "}
        <InlineSelect label={words.to} value={String(to)} options={options} onChange={(one) => setTo(Number(one))} />
      </p>
      {error ? <Failure error={error} /> : null}
      {data && differences.length === 0 && <p className={css.none}>{words.same}</p>}
      <Changes
        changes={differences.map(([field, segments]) => ({ field, name: nameOfField(field), diff: { segments } }))}
      />
      {data?.coarse && data.coarse.length > 0 && <p className={css.none}>{m.common.coarse}</p>}
    </section>
  )
}
