import { useQuery } from "@tanstack/react-query"
import { Origin } from "../items/origin"
import { ButtonLink } from "../kit/button"
import { Panel } from "../kit/panel"
import { NotYet, Skeleton } from "../kit/states"
import { formatScore, m } from "../messages"
import css from "./cell-panel.module.css"
import { type Cell, type Matrix, stateAt } from "./decode"
import type { Label, Labels } from "./labels"
import { CellBadge } from "./legend"
import { pairOf } from "./queries"

type Props = { matrix: Matrix; cell: Cell; labels: Labels; onClose: () => void }

/** A cell for a glance: both items, what is between them, and where to go on. */
export function CellPanel({ matrix, cell, labels, onClose }: Props) {
  const [row, column] = [labels.of("row", cell.row), labels.of("column", cell.column)]
  return (
    <Panel label={m.matrix.panel} onClose={onClose}>
      {row && column ? (
        <div className={css.cell}>
          <CellBadge matrix={matrix} cell={cell} />
          <Side title={m.matrix.requirement} item={row} path="/requirements" />
          <Side title={m.matrix.testCase} item={column} path="/test-cases" />
          {stateAt(matrix, cell) !== 0 && <Pair requirement={row.id} testCase={column.id} />}
        </div>
      ) : (
        <Skeleton rows={4} />
      )}
    </Panel>
  )
}

function Side({ title, item, path }: { title: string; item: Label; path: string }) {
  return (
    <section>
      <h2>{title}</h2>
      <p className={css.title}>
        {item.external_id && <span className={css.id}>{item.external_id}</span>} {item.title}
      </p>
      <p className={css.quiet}>
        {[item.module, m.matrix.figures(item.links, item.suspect_links, item.pending_suggestions)]
          .filter(Boolean)
          .join(" · ")}
      </p>
      <ButtonLink href={`${path}/${item.id}`}>{m.matrix.open(title.toLowerCase())}</ButtonLink>
    </section>
  )
}

function Pair({ requirement, testCase }: { requirement: string; testCase: string }) {
  const query = useQuery(pairOf(requirement, testCase))
  if (!query.data) return <NotYet query={query} rows={2} />
  const { link, suggestion } = query.data
  return (
    <section>
      <h2>{link ? m.matrix.link : m.matrix.suggestion}</h2>
      {link && (
        <dl className={css.facts}>
          <dt>{m.matrix.linkType}</dt>
          <dd>{m.items.values[link.link_type]}</dd>
        </dl>
      )}
      {link && <Origin link={link} />}
      {suggestion && <p className={css.quiet}>{m.matrix.score(formatScore(suggestion.similarity_score))}</p>}
      {link?.suspect && <ButtonLink href="/suspect">{m.matrix.toSuspect}</ButtonLink>}
      {suggestion && (
        <ButtonLink look="primary" href={`/review?requirement=${requirement}&test_case=${testCase}`}>
          {m.matrix.toReview}
        </ButtonLink>
      )}
    </section>
  )
}
