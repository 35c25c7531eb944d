import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import { Ago } from "../kit/ago"
import { Badge } from "../kit/badge"
import type { Column } from "../kit/table"
import { formatCount, m } from "../messages"
import { VerdictBadge } from "../results/pieces"
import { verdictOfRequirement, verdictOfTestCase } from "../results/verdict"
import { type ItemRow, type Kind, REQUIREMENTS, word } from "./kinds"
import css from "./list.module.css"
import { PREFIX, type ProjectField, shownValue, valuesOf } from "./project-fields"

const { fields, column } = m.items

/** The column that is of use only where something was executed. */
export const VERDICT = "verdict"

/** Return the columns of a list. */
export function columnsOf(kind: Kind, own: ProjectField[]): Column<ItemRow>[] {
  return [
    ...columnsOfAll(kind),
    ...own.map((field, at): Column<ItemRow> => {
      const name = `${PREFIX}${field.key}`
      return {
        id: name,
        label: field.name,
        width: 120,
        rank: 4.5 + at / 100,
        sort: name,
        isNumber: field.kind === "number",
        cell: ({ custom_metadata }) => <Text text={shownValue(valuesOf(custom_metadata)[field.key]) || null} />,
      }
    }),
  ]
}

function columnsOfAll(kind: Kind): Column<ItemRow>[] {
  return [
    { id: "external_id", label: fields.external_id, width: 124, sort: "external_id", cell: id },
    { id: "title", label: fields.title, width: 240, grow: true, sort: "title", cell: (row) => title(kind, row) },
    { id: "module", label: fields.module, width: 136, rank: 4, cell: ({ module }) => <Text text={module} /> },
    { id: "status", label: fields.status, width: 112, rank: 1, cell: ({ status }) => word(status) },
    {
      id: "priority",
      label: fields.priority,
      width: 88,
      rank: 3,
      sort: "priority",
      isDescendingFirst: true,
      cell: priority,
    },
    { id: VERDICT, label: column.verdict, width: 108, rank: 2.5, cell: (row) => <VerdictOf kind={kind} id={row.id} /> },
    { id: "links", label: column.links, width: 72, rank: 2, isNumber: true, cell: links },
    { id: "suspect", label: column.suspect, width: 76, rank: 5, isNumber: true, cell: suspect },
    { id: "pending", label: column.pending, width: 80, rank: 6, isNumber: true, cell: pending },
    {
      id: "updated",
      label: fields.updated_at,
      width: 128,
      rank: 7,
      sort: "updated_at",
      isDescendingFirst: true,
      cell: updated,
    },
  ]
}

const id = ({ external_id }: ItemRow) => <span className={css.id}>{external_id}</span>
const updated = ({ updated_at }: ItemRow) => (
  <span className={css.none}>
    <Ago iso={updated_at} />
  </span>
)
const priority = ({ priority: value }: ItemRow) => <span data-priority={value}>{word(value)}</span>

function Text({ text }: { text: string | null }) {
  return text ? <span title={text}>{text}</span> : <span className={css.none}>–</span>
}

function title(kind: Kind, row: ItemRow) {
  return (
    <Link href={`${kind.path}/${row.id}`} tabIndex={-1} title={row.title}>
      {row.title}
    </Link>
  )
}

function links({ coverage }: ItemRow) {
  return coverage.links > 0 ? formatCount(coverage.links) : <span className={css.none}>{formatCount(0)}</span>
}

function suspect({ coverage: { suspect_links } }: ItemRow) {
  return suspect_links > 0 ? <Badge state="suspect">{formatCount(suspect_links)}</Badge> : null
}

function pending({ coverage: { pending_suggestions } }: ItemRow) {
  return pending_suggestions > 0 ? <Badge state="pending">{formatCount(pending_suggestions)}</Badge> : null
}

function VerdictOf({ kind, id: of }: { kind: Kind; id: string }) {
  const { data } = useQuery((kind === REQUIREMENTS ? verdictOfRequirement : verdictOfTestCase)(of))
  return data ? <VerdictBadge verdict={data} /> : null
}
