import { Button } from "../kit/button"
import { InlineSelect } from "../kit/inline-select"
import { formatCount, formatShare } from "../messages"
import { useMay } from "../session/session"
import type { Described, Table } from "./api"
import css from "./exchange.module.css"
import {
  closedOf,
  fieldOn,
  IGNORE,
  makeOf,
  type OfProject,
  type Part,
  partOfItems,
  REST,
  targetOf,
  targetOn,
  targetsOf,
  withTarget,
} from "./mapping"
import { namesOf, plainly, targetName } from "./names"
import { type CellProblem, type Proposal, reasonOf } from "./sheets"
import { Values } from "./values"
import { words as exchange } from "./words"

const words = exchange.sheet
const SURE = 0.7

type Props = {
  table: Table
  parts: Part[]
  proposal: Proposal | undefined
  /** Those that the project has of its own. */
  fields: OfProject[]
  problems: ReadonlyMap<number, CellProblem[]>
  change: (parts: Part[]) => void
}

/** The table of a file as it stands there: above each column what it becomes, at a cell what is wrong with it. */
export function SheetTable({ table, parts, proposal, fields, problems, change }: Props) {
  const columns = columnsOf(table, proposal)
  const isRead = parts.length > 0
  const targets = columns.map((column) => (isRead ? targetOf(parts, column) : IGNORE))
  if (table.rows.length === 0) return <p className={css.quiet}>{words.noRows}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <section className={css.across} tabIndex={0} aria-label={table.sheet ?? exchange.recognised.tableOf}>
      <table className={`${css.table} ${css.file}`}>
        <thead>
          <tr>
            <th scope="col" className={css.number}>
              {words.row}
            </th>
            {columns.map((column) => (
              <th key={column.position} scope="col">
                <div className={css.head}>
                  <span className={css.name}>{column.name || words.unnamed(column.position)}</span>
                  {isRead && (
                    <ColumnMenu
                      column={column}
                      columns={columns}
                      parts={parts}
                      proposal={proposal}
                      fields={fields}
                      change={change}
                    />
                  )}
                </div>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map(({ row, cells }) => (
            <FileRow key={row} row={row} cells={cells} targets={targets} problems={problems.get(row)} />
          ))}
        </tbody>
        <caption className={css.below}>
          {(table.count === table.rows.length ? words.allOf : words.firstOf)(table.rows.length)}
        </caption>
      </table>
    </section>
  )
}

/** Return the columns of a table with what is said of them, those of one that is not read by their names alone. */
function columnsOf({ names }: Table, proposal: Proposal | undefined): Described[] {
  return names.map((name, at) => {
    const known = proposal?.columns[at]
    return known?.name === name ? known : { name, position: at + 1, samples: [], blanks: 0, values: [] }
  })
}

type MenuProps = Pick<Props, "parts" | "proposal" | "fields" | "change"> & { column: Described; columns: Described[] }

/** What a column becomes, why, and what its values mean. */
function ColumnMenu({ column, columns, parts, proposal, fields, change }: MenuProps) {
  const target = targetOf(parts, column)
  const name = column.name || words.unnamed(column.position)
  const isOneOfSeveral = parts.length > 1
  const mayMake = useMay("admin")
  const names = namesOf(fields, parts)
  const items = partOfItems(parts)
  const { make } = column
  const made = makeOf(parts, target)
  function makeField() {
    if (!make || !items) return
    const { key, name: called, kind, choices } = make
    const field = { name: called, kind, ...(kind === "choice" && choices && { choices }) }
    change(withTarget(parts, columns, column, targetOn(items, fieldOn(key)), field))
  }
  const [role, field] = target.split("/")
  const part = parts.find((one) => one.role === role)
  const closed = part && closedOf(part).find((one) => one === field)
  return (
    <>
      <InlineSelect
        label={words.becomesOf(name)}
        value={target}
        options={targetsOf(parts, fields).map((value) => ({ value, label: targetName(value, isOneOfSeveral, names) }))}
        onChange={(next) => change(withTarget(parts, columns, column, next))}
      />
      {part && closed && (
        <Values
          part={part}
          field={closed}
          column={column}
          change={(next) => change(parts.map((one) => (one === part ? next : one)))}
        />
      )}
      {target === REST && make && mayMake && items ? (
        <>
          <span className={css.why}>{words.noFieldYet(name)}</span>
          <Button look="quiet" aria-label={words.makeOf(name)} onPress={makeField}>
            {words.make}
          </Button>
        </>
      ) : made ? (
        <span className={css.why}>{words.willMake(made.name, exchange.fieldKinds[made.kind] ?? made.kind)}</span>
      ) : (
        <Why target={target} name={name} proposed={reasonOf(parts, column, proposal)} />
      )}
    </>
  )
}

/** Why a column becomes what it does: what was seen of it, or that somebody chose it. */
function Why({ target, name, proposed }: { target: string; name: string; proposed: Described | undefined }) {
  const sure = proposed?.confidence ?? 0
  const isUnsure = sure > 0 && sure < SURE
  const chosen = { [REST]: words.noField(name), [IGNORE]: words.leftOutByYou }[target] ?? words.chosenByYou
  const share = sure > 0 && sure < 1 ? `${words.sure(formatShare(sure))}: ` : ""
  const reason = proposed ? share + plainly(proposed.reason ?? "") : chosen
  return (
    <span className={css.why} title={reason} data-unsure={isUnsure || undefined}>
      {isUnsure && <strong>▲ {words.unsure}. </strong>}
      {reason}
    </span>
  )
}

type RowProps = { row: number; cells: string[]; targets: string[]; problems: CellProblem[] | undefined }

function FileRow({ row, cells, targets, problems = [] }: RowProps) {
  const elsewhere = problems.filter(({ column }) => column === null || column > targets.length)
  return (
    <tr data-failed={problems.length > 0 || undefined}>
      <th scope="row" className={css.number}>
        {formatCount(row)}
        {elsewhere.map(({ message }) => (
          <Problem key={message} message={message} />
        ))}
      </th>
      {targets.map((target, at) => {
        const own = problems.filter(({ column }) => column === at + 1)
        const text = cells[at] ?? ""
        return (
          <td key={at} data-problem={own.length > 0 || undefined} data-out={target === IGNORE || undefined}>
            <span className={css.cell} title={text}>
              {text}
            </span>
            {own.map(({ message }) => (
              <Problem key={message} message={message} />
            ))}
          </td>
        )
      })}
    </tr>
  )
}

function Problem({ message }: { message: string }) {
  return <span className={css.problem}>✕ {plainly(message)}</span>
}
