import { Button } from "../kit/button"
import { InlineSelect } from "../kit/inline-select"
import { Select } from "../kit/select"
import { complain } from "../kit/toast"
import { formatCount } from "../messages"
import type { Table, Typed } from "./api"
import css from "./exchange.module.css"
import { type Part, partsOf, type Role, roleOf, withParts, withType } from "./mapping"
import { namesOf, roleName, targetName } from "./names"
import { SheetTable } from "./sheet-table"
import { problemsOf } from "./sheets"
import type { SetupState } from "./use-setup"
import { Constants } from "./values"
import { words as exchange } from "./words"

const words = exchange.sheet
const ROLES = ["requirements", "test_cases", "links", "matrix", "ignore"]
const SEARCHED_ROWS = 30

/** One sheet of a file: what its rows are, and the table as people know it, with what each column becomes. */
export function Sheet({ setup, table }: { setup: SetupState; table: Table }) {
  const { data, current, proposals, lost } = setup
  if (!data || !current) return null
  const { sheet } = table
  const parts = partsOf(current, sheet)
  const role = roleOf(parts)
  const proposal = proposals.get(sheet)
  const change = (next: Part[]) => setup.change(withParts(current, sheet, next))
  const proposedRole = proposal ? roleOf(proposal.parts) : "ignore"
  const composite = [...new Set([role, proposedRole])].filter((one) => one.includes("+"))
  function become(next: string) {
    if (next === "ignore") setup.leaveOut(sheet)
    else void setup.proposeAnew(sheet, { role: next.includes("+") ? "auto" : (next as Role) }).catch(complain)
  }
  const names = namesOf(setup.fields, parts)
  const types = data.types.filter((one) => one.sheet === sheet)
  return (
    <div className={css.part}>
      <div className={css.line}>
        <Select
          label={words.role}
          value={role}
          options={[...composite, ...ROLES].map((value) => ({ value, label: roleName(value) }))}
          onChange={become}
        />
        <Select
          label={words.headerRow}
          value={String(table.header_row)}
          options={rowsUpTo(table.header_row)}
          onChange={(row) => void setup.proposeAnew(sheet, { header_row: Number(row) }).catch(complain)}
        />
        {setup.isChanged(sheet) && (
          <Button look="quiet" onPress={() => void setup.proposeAnew(sheet, { role: "auto" }, true).catch(complain)}>
            {words.asProposed}
          </Button>
        )}
      </div>
      {lost.length > 0 && (
        <div role="status">
          <ul className={css.remarks}>
            {lost.map(({ said, target }) => (
              <li key={`${said} ${target}`}>▲ {words.lost(said, targetName(target, false, names))}</li>
            ))}
          </ul>
        </div>
      )}
      {role === "ignore" && <p className={css.quiet}>{words.leftOut}</p>}
      {types.length > 0 && (
        <Types
          types={types}
          said={parts.find((part) => part.types)?.types?.roles ?? {}}
          others="ignore"
          change={(type, next) => change(withType(parts, type, next))}
        />
      )}
      <SheetTable
        table={table}
        parts={parts}
        proposal={proposal}
        fields={setup.fields}
        problems={problemsOf(data, sheet)}
        change={change}
      />
      {parts.map((part) => (
        <Constants
          key={part.role}
          part={part}
          change={(next) => change(parts.map((one) => (one === part ? next : one)))}
        />
      ))}
    </div>
  )
}

/** Rows that may have the names of the columns: those that are searched for them, and the one that has them. */
function rowsUpTo(row: number) {
  return Array.from({ length: Math.max(SEARCHED_ROWS, row) }, (_, at) => ({
    value: String(at + 1),
    label: formatCount(at + 1),
  }))
}

type TypesProps = {
  types: Typed[]
  /** What a person has said. */
  said: Record<string, string>
  /** What those are that become neither requirements nor test cases. */
  others: "ignore" | "structure"
  change: (type: string, role: string) => void
}

/** What rows or items of each type become. */
export function Types({ types, said, others, change }: TypesProps) {
  const options = ["requirements", "test_cases", others].map((value) => ({
    value,
    label: words.roles[value] ?? value,
  }))
  return (
    <div className={css.across}>
      <table className={css.table}>
        <caption>{words.types}</caption>
        <thead>
          <tr>
            <th scope="col">{words.type}</th>
            <th scope="col" className={css.number}>
              {words.count}
            </th>
            <th scope="col">{words.example}</th>
            <th scope="col">{words.becomes}</th>
          </tr>
        </thead>
        <tbody>
          {types.map(({ type, count, example, proposed, reason }) => (
            <tr key={type}>
              <th scope="row">{type}</th>
              <td className={css.number}>{formatCount(count)}</td>
              <td className={css.samples}>{example}</td>
              <td>
                <InlineSelect
                  label={words.becomesOf(type)}
                  value={said[type] ?? proposed}
                  options={options}
                  onChange={(role) => change(type, role)}
                />{" "}
                {(said[type] ?? proposed) === proposed && <span className={css.quiet}>{reason}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
