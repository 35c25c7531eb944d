import { formatCount, m } from "../messages"
import { stepsOf, textOf } from "./fields"
import css from "./item.module.css"
import type { Item, Kind } from "./kinds"
import { type Data, dataBeside, useProjectFields } from "./project-fields"

/** What an item says, to be read. */
export function ItemText({ kind, item }: { kind: Kind; item: Item }) {
  const data = dataBeside(useProjectFields(kind), item.custom_metadata)
  return (
    <div className={css.text}>
      <Part title={m.items.fields.description} text={item.description} />
      {kind.texts.map((field) =>
        field === "steps" ? (
          <Steps key={field} steps={stepsOf(item.steps ?? null)} />
        ) : (
          <Part
            key={field}
            title={m.items.fields[field]}
            text={textOf(field, item[field])}
            isData={field === "test_data"}
          />
        ),
      )}
      <FurtherData data={data} />
    </div>
  )
}

/** What no field has, a line a value. */
function FurtherData({ data }: { data: Data }) {
  const rows = Object.entries(data ?? {}).flatMap(([name, value]) => flattened(name, value))
  if (rows.length === 0) return null
  return (
    <details className={css.further}>
      <summary>
        {m.items.fields.custom_metadata} <span className={css.id}>{formatCount(rows.length)}</span>
      </summary>
      <table>
        <tbody>
          {rows.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}

/** Return the values of further data with their names; of one within another, with both. */
function flattened(name: string, value: unknown): [string, string][] {
  if (typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([inner, one]) => flattened(`${name} › ${inner}`, one))
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return [[name, value.join(", ")]]
  return [[name, typeof value === "string" ? value : JSON.stringify(value)]]
}

function Part({ title, text, isData }: { title: string; text: string; isData?: boolean }) {
  if (!text) return null
  return (
    <section>
      <h2>{title}</h2>
      {isData ? <pre className={css.data}>{text}</pre> : <p className={css.prose}>{text}</p>}
    </section>
  )
}

function Steps({ steps }: { steps: string[] }) {
  if (steps.length === 0) return null
  return (
    <section>
      <h2>{m.items.fields.steps}</h2>
      <ol className={css.steps}>
        {steps.map((text, place) => (
          <li key={place} className={css.prose}>
            {text}
          </li>
        ))}
      </ol>
    </section>
  )
}
