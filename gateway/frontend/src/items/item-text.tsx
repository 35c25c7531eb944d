import { m } from "../messages"
import { stepsOf, textOf } from "./fields"
import css from "./item.module.css"
import type { Item, Kind } from "./kinds"
import { dataBeside, useProjectFields } from "./project-fields"

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
      <Part title={m.items.fields.custom_metadata} text={textOf("custom_metadata", data)} isData />
    </div>
  )
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
