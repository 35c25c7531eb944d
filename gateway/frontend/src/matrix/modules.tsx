import { useQuery } from "@tanstack/react-query"
import { type KeyboardEvent, useMemo } from "react"
import { Link } from "wouter"
import type { components } from "../api/schema"
import { formatCount, formatShare, m } from "../messages"
import { written } from "./address"
import css from "./modules.module.css"
import { type ModuleMatrix, moduleCoverage } from "./queries"

type ModuleCell = components["schemas"]["ModuleCell"]

/** Modules of requirements by modules of test cases: how many links, and how good they are. */
export function Modules({ matrix }: { matrix: ModuleMatrix }) {
  const coverage = useQuery(moduleCoverage).data?.items
  const rows = useMemo(() => {
    const cells = new Map(matrix.cells.map((cell) => [`${cell.row} ${cell.column}`, cell]))
    return matrix.rows.map(({ module, items }, row) => {
      const of = matrix.columns.map((_, column) => cells.get(`${row} ${column}`))
      return { module, items, of, links: of.reduce((sum, cell) => sum + (cell?.links ?? 0), 0) }
    })
  }, [matrix])
  return (
    <div className={css.scroller}>
      <table className={css.table} onKeyDown={moveToNext}>
        <caption className="visually-hidden">{m.matrix.modulesCaption}</caption>
        <thead>
          <tr>
            <th scope="col" className={css.corner}>
              {m.matrix.modulesOf}
            </th>
            <th scope="col">{m.matrix.coverage}</th>
            {matrix.columns.map(({ module, items }) => (
              <th key={module} scope="col">
                <span className={css.name}>{module ?? m.matrix.noModule}</span>
                <span className={css.quiet}>{m.matrix.testCases(items)}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ module, items, of, links }, row) => {
            const covered = coverage?.find((one) => one.module === module)
            return (
              <tr key={module}>
                <th scope="row">
                  <span className={css.name}>{module ?? m.matrix.noModule}</span>
                  <span className={css.quiet}>{m.matrix.requirements(items)}</span>
                </th>
                <td className={css.coverage}>
                  {covered && (
                    <>
                      <meter min={0} max={1} value={covered.coverage} aria-label={m.matrix.coverage} />
                      <span>{formatShare(covered.coverage)}</span>
                      <span className={css.quiet}>
                        {m.matrix.of(formatCount(covered.covered_requirements), formatCount(items))}
                      </span>
                    </>
                  )}
                </td>
                {of.map((cell, column) => (
                  <ModuleOf
                    key={matrix.columns[column]?.module}
                    cell={cell}
                    share={links ? (cell?.links ?? 0) / links : 0}
                    row={module}
                    column={matrix.columns[column]?.module ?? null}
                    isFirst={row === 0 && column === 0}
                  />
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

type CellProps = {
  cell: ModuleCell | undefined
  /** Of the links of its row. */
  share: number
  row: string | null
  column: string | null
  isFirst: boolean
}

function ModuleOf({ cell, share, row, column, isFirst }: CellProps) {
  const { links = 0, suspect_links = 0, pending_suggestions = 0 } = cell ?? {}
  const query = new URLSearchParams({ module: written(row), columns: written(column), at: "0,0" })
  const words = m.matrix.figures(links, suspect_links, pending_suggestions)
  return (
    <td className={css.cell} style={{ "--share": `${Math.round(share * 100)}%` }} data-filled={links > 0 || undefined}>
      <Link href={`/matrix?${query}`} tabIndex={isFirst ? 0 : -1} title={words}>
        <span className="visually-hidden">
          {row ?? m.matrix.noModule}, {column ?? m.matrix.noModule}: {words}
        </span>
        <span aria-hidden="true" className={css.figures}>
          <span className={css.links}>{links > 0 ? formatCount(links) : "·"}</span>
          {suspect_links > 0 && <span className={css.suspect}>▲ {formatCount(suspect_links)}</span>}
          {pending_suggestions > 0 && <span className={css.pending}>◆ {formatCount(pending_suggestions)}</span>}
        </span>
      </Link>
    </td>
  )
}

/** Have arrows go from cell to cell; one of them is what Tab comes to. */
function moveToNext(event: KeyboardEvent<HTMLTableElement>): void {
  const here = (event.target as HTMLElement).closest("td")
  const steps: Record<string, [number, number]> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
  }
  const step = steps[event.key]
  if (!here || !step) return
  event.preventDefault()
  const row = here.closest("tr")
  const table = event.currentTarget.tBodies[0]
  const next = table?.rows[(row?.sectionRowIndex ?? 0) + step[0]]?.cells[here.cellIndex + step[1]]?.querySelector("a")
  if (!next) return
  for (const link of table?.querySelectorAll("a") ?? []) link.tabIndex = -1
  next.tabIndex = 0
  next.focus()
}
