import { useMemo } from "react"
import { useLocation } from "wouter"
import { ItemLink } from "../items/rows"
import { Badge, type State } from "../kit/badge"
import { Page, Rest } from "../kit/page"
import { useShortcuts } from "../kit/shortcuts"
import { Empty, NotYet } from "../kit/states"
import { type Column, VirtualTable } from "../kit/table"
import { useActiveRow, useTableKeys } from "../kit/table-keys"
import { formatCount } from "../messages"
import { VerdictBadge } from "../results/pieces"
import { TreeDownloads } from "./downloads"
import css from "./levels.module.css"
import { indexOfParent, type Line } from "./lines"
import type { TreeRow } from "./queries"
import { useTree } from "./use-tree"
import { words } from "./words"

const COVERAGE: Record<TreeRow["rolled_coverage"], State> = {
  covered: "covered",
  covered_below: "covered",
  partly_below: "suspect",
  uncovered: "none",
}
const NARROW = 110

/** Requirements below requirements, each with what it comes to with all that stand below it. */
export default function TreePage() {
  const { lines, onSight, toggle, query } = useTree()
  const [, go] = useLocation()
  const count = lines.length
  const { table, active, activate } = useActiveRow()
  const at = Math.min(active, count - 1)
  const line = lines[at]
  const columns = useMemo(() => columnsOf(toggle), [toggle])
  function open(index: number) {
    const row = lines[index]?.row
    if (row) go(`/requirements/${row.id}`)
  }
  function right() {
    if (!line?.row || line.row.children === 0) return
    if (line.isOpen) activate(at + 1)
    else toggle(line)
  }
  function left() {
    if (line?.isOpen) toggle(line)
    else if (indexOfParent(lines, at) >= 0) activate(indexOfParent(lines, at))
  }
  useTableKeys({ active: at, count, onActive: activate, onOpen: () => open(at) })
  useShortcuts([
    { keys: "ArrowRight", label: words.keys.open, repeats: true, run: right },
    { keys: "ArrowLeft", label: words.keys.close, repeats: true, run: left },
  ])
  if (query.error || !query.data || count === 0) {
    return (
      <Page title={words.title}>
        <NotYet query={query} />
        {query.data && <Empty title={words.none} hint={words.noneHint} />}
      </Page>
    )
  }
  return (
    <Page title={words.title} fill actions={<TreeDownloads />}>
      <Rest>
        <VirtualTable
          ref={table}
          label={words.title}
          columns={columns}
          count={count}
          row={(index) => (lines[index]?.row ? lines[index] : undefined)}
          placeOf={({ depth, row, isOpen, position, size }) => ({
            level: depth + 1,
            isOpen: row && row.children > 0 ? isOpen : undefined,
            position,
            size,
          })}
          onSight={onSight}
          active={at}
          onActive={activate}
        />
      </Rest>
    </Page>
  )
}

function columnsOf(toggle: (line: Line) => void): Column<Line>[] {
  const of = (cell: (row: TreeRow) => React.ReactNode) => (line: Line) => line.row && cell(line.row)
  return [
    {
      id: "title",
      label: words.requirement,
      width: 320,
      grow: true,
      cell: (line) => <Name line={line} toggle={toggle} />,
    },
    {
      id: "rolled",
      label: words.rolled,
      width: 140,
      cell: of(({ rolled }) => <VerdictBadge verdict={rolled.verdict} />),
    },
    {
      id: "coverage",
      label: words.coverage,
      width: 130,
      rank: 1,
      cell: of(({ rolled_coverage: coverage }) => (
        <Badge state={COVERAGE[coverage]}>{words.coverages[coverage]}</Badge>
      )),
    },
    { id: "own", label: words.own, width: 120, rank: 3, cell: of(({ verdict }) => <VerdictBadge verdict={verdict} />) },
    {
      id: "tests",
      label: words.tests,
      width: 80,
      rank: 2,
      isNumber: true,
      cell: of(({ tests }) => formatCount(tests)),
    },
    {
      id: "suspect",
      label: words.suspect,
      width: NARROW,
      rank: 2,
      isNumber: true,
      cell: of(({ suspect_links, suspect_relations }) => formatCount(suspect_links + suspect_relations)),
    },
  ]
}

function Name({ line, toggle }: { line: Line; toggle: (line: Line) => void }) {
  const { row, depth, isOpen } = line
  if (!row) return null
  const name = row.external_id ?? row.title
  return (
    <span className={css.place} style={{ "--depth": depth }}>
      {row.children > 0 ? (
        <button
          type="button"
          tabIndex={-1}
          className={css.toggle}
          aria-label={isOpen ? words.close(name) : words.open(name)}
          onClick={() => toggle(line)}
        >
          {isOpen ? "▾" : "▸"}
        </button>
      ) : (
        <span className={css.toggle} />
      )}
      <ItemLink path="/requirements" item={row} />
    </span>
  )
}
