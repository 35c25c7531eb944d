import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { Changes } from "../kit/changes"
import { InlineSelect } from "../kit/inline-select"
import { Failure } from "../kit/states"
import { m } from "../messages"
import { readHistory } from "./api"
import { nameOfField } from "./fields"
import type { Item, Kind } from "./kinds"
import css from "./tab.module.css"

const words = m.items.history

/** What two versions say differently; at first the present one and the one before. */
export function Compare({ kind, item }: { kind: Kind; item: Item }) {
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
