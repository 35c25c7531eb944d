import { nameOfField, textOf } from "../items/fields"
import type { Field } from "../items/merge"
import type { Inspection } from "./api"
import css from "./exchange.module.css"
import { words as exchange } from "./words"

const words = exchange.preview
const LONGEST = 120

/** The first items of a file that has no tables, with what is wrong in each. */
export function Preview({ inspection: { rows } }: { inspection: Inspection }) {
  const fields = [...new Set(rows.flatMap((row) => Object.keys(row.fields)))]
  const hasProblems = rows.some(({ problems }) => problems.length > 0)
  return (
    <div className={css.part}>
      <h2 id="preview">{words.title}</h2>
      {rows.length === 0 ? (
        <p className={css.quiet}>{words.none}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
        <section className={css.across} tabIndex={0} aria-labelledby="preview">
          <table className={`${css.table} ${css.preview}`}>
            <thead>
              <tr>
                <th scope="col">{words.row}</th>
                <th scope="col">{words.kind}</th>
                {hasProblems && <th scope="col">{words.problems}</th>}
                {fields.map((field) => (
                  <th key={field} scope="col">
                    {exchange.sheet.ofLinks[field] ?? nameOfField(field)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, at) => (
                <tr key={at} data-failed={row.problems.length > 0 || undefined}>
                  <th scope="row">{row.row}</th>
                  <td>{exchange.rowKinds[row.kind]}</td>
                  {hasProblems && <td>{row.problems.map(({ message }) => message).join(" ")}</td>}
                  {fields.map((field) => (
                    <td key={field}>{cut(shown(field, row.fields[field]))}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </div>
  )
}

/** Return what a field says, of further data and ends of links what stands in them. */
function shown(field: string, value: unknown): string {
  const isData = typeof value === "object" && !Array.isArray(value) && field !== "steps"
  return isData && value ? textsIn(value).join(", ") : textOf(field as Field, value)
}

function textsIn(value: unknown): string[] {
  if (value === null || value === undefined || value === "") return []
  if (typeof value !== "object") return [String(value)]
  return Object.values(value).flatMap(textsIn)
}

function cut(text: string): string {
  const letters = Array.from(text)
  return letters.length > LONGEST ? `${letters.slice(0, LONGEST).join("")}…` : text
}
