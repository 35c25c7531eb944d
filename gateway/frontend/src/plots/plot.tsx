import { type ReactNode, useId, useRef } from "react"
import { Button } from "../kit/button"
import css from "./plot.module.css"
import { savePicture, saveTable } from "./save"

type Props = {
  title: string
  words: { asTable: string; png: string; csv: string }
  /** The same as a table: its header first. */
  rows: (string | number)[][]
  note?: ReactNode
  children: ReactNode
}

/** A plot with its title, the same as a table, and ways to save both. */
export function Plot({ title, words, rows, note, children }: Props) {
  const id = useId()
  const figure = useRef<HTMLElement>(null)
  const [head = [], ...body] = rows
  const name = title.toLowerCase().replaceAll(" ", "-")
  function picture() {
    const plot = figure.current?.querySelector("svg")
    if (plot) void savePicture(name, plot)
  }
  return (
    <figure className={css.plot} ref={figure} aria-labelledby={id}>
      <figcaption id={id}>{title}</figcaption>
      {children}
      {note && <p className={css.note}>{note}</p>}
      <details className={css.table}>
        <summary>{words.asTable}</summary>
        <div className={css.files}>
          <Button onPress={picture}>{words.png}</Button>
          <Button onPress={() => saveTable(name, rows)}>{words.csv}</Button>
        </div>
        <table>
          <thead>
            <tr>
              {head.map((cell) => (
                <th key={cell} scope="col">
                  {cell}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {body.map((row, place) => (
              // Two runs may have the same name and day.
              <tr key={place}>
                {row.map((cell, column) =>
                  column === 0 ? (
                    <th key={head[column]} scope="row">
                      {cell}
                    </th>
                  ) : (
                    <td key={head[column]} className="numbers">
                      {cell}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  )
}
