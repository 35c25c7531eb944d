import { useState } from "react"
import { Button } from "../kit/button"
import { useShortcuts } from "../kit/shortcuts"
import { formatCount, m } from "../messages"
import { useAddress } from "./address"
import css from "./as-table.module.css"
import { CellPanel } from "./cell-panel"
import type { Known } from "./cells"
import { type Cell, type Matrix, stateAt } from "./decode"
import { fullName, shortName } from "./labels"
import { CellBadge } from "./legend"

const MOST_ROWS = 40
const MOST_COLUMNS = 20

type Props = { matrix: Matrix; labels: Known; begin: Cell }

/** A part of the matrix as a table, for who reads rather than looks. */
export function AsTable({ matrix, labels: { labels }, begin }: Props) {
  const [, change] = useAddress()
  const [first, setFirst] = useState<Cell>(() => ({
    row: Math.max(0, Math.min(begin.row, matrix.rows - MOST_ROWS)),
    column: Math.max(0, Math.min(begin.column, matrix.columns - MOST_COLUMNS)),
  }))
  const [open, setOpen] = useState<Cell>()
  useShortcuts([{ keys: "t", label: m.matrix.asMap, run: () => change({ as: undefined }) }])
  const rows = numbers(first.row, Math.min(matrix.rows, first.row + MOST_ROWS))
  const columns = numbers(first.column, Math.min(matrix.columns, first.column + MOST_COLUMNS))
  const move = (row: number, column: number) => {
    setFirst({
      row: Math.max(0, Math.min(first.row + row, matrix.rows - 1)),
      column: Math.max(0, Math.min(first.column + column, matrix.columns - 1)),
    })
  }
  const part = (from: number, shown: number[], of: number) =>
    [formatCount(from + 1), formatCount(from + shown.length), formatCount(of)] as const
  return (
    <div className={css.split}>
      <div className={css.main}>
        <div className={css.moves}>
          <span className="numbers">{m.matrix.rowsShown(...part(first.row, rows, matrix.rows))}</span>
          <Button isDisabled={first.row === 0} onPress={() => move(-MOST_ROWS, 0)}>
            {m.matrix.rowsBefore}
          </Button>
          <Button isDisabled={first.row + rows.length >= matrix.rows} onPress={() => move(MOST_ROWS, 0)}>
            {m.matrix.rowsAfter}
          </Button>
          <span className="numbers">{m.matrix.columnsShown(...part(first.column, columns, matrix.columns))}</span>
          <Button isDisabled={first.column === 0} onPress={() => move(0, -MOST_COLUMNS)}>
            {m.matrix.columnsBefore}
          </Button>
          <Button isDisabled={first.column + columns.length >= matrix.columns} onPress={() => move(0, MOST_COLUMNS)}>
            {m.matrix.columnsAfter}
          </Button>
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
        <section className={css.scroller} tabIndex={0} aria-label={m.matrix.asTable}>
          <table className={css.table}>
            <caption className="visually-hidden">{m.matrix.label(matrix.rows, matrix.columns)}</caption>
            <thead>
              <tr>
                <th scope="col">{m.matrix.requirement}</th>
                {columns.map((column) => {
                  const label = labels.of("column", column)
                  return (
                    <th key={column} scope="col" title={label && fullName(label)}>
                      <span>{shortName(label)}</span>
                    </th>
                  )
                })}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => {
                const label = labels.of("row", row)
                return (
                  <tr key={row} data-gap={label?.links === 0 || undefined}>
                    <th scope="row" title={label && fullName(label)}>
                      {label && fullName(label)}
                    </th>
                    {columns.map((column) => {
                      const state = stateAt(matrix, { row, column })
                      return (
                        <td key={column} data-state={state || undefined}>
                          {state > 0 && (
                            <button type="button" onClick={() => setOpen({ row, column })}>
                              <CellBadge matrix={matrix} cell={{ row, column }} />
                            </button>
                          )}
                        </td>
                      )
                    })}
                  </tr>
                )
              })}
            </tbody>
          </table>
        </section>
      </div>
      {open && <CellPanel matrix={matrix} cell={open} labels={labels} onClose={() => setOpen(undefined)} />}
    </div>
  )
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at)
}
