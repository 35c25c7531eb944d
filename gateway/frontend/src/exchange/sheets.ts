import type { Described, Inspection, Table } from "./api"
import {
  type Column,
  carriedOver,
  type Lost,
  type Mapping,
  type OfProject,
  type Part,
  partsOf,
  roleOf,
  targetOf,
  withParts,
} from "./mapping"

/** What is proposed for a sheet, by which what a person has set by hand is known, and why. */
export type Proposal = { parts: Part[]; columns: Described[] }
/** Of each sheet; a file that has none has one without a name. */
export type Proposals = ReadonlyMap<string | null, Proposal>

/** Return what an inspection proposes for each table of a file. */
export function proposalsOf(found: Inspection): Proposals {
  return new Map(found.tables.map((table) => [table.sheet, proposalOf(found, table)]))
}

function proposalOf(found: Inspection, table: Table): Proposal {
  const parts = found.record_mapping ? partsOf(found.record_mapping, table.sheet) : []
  const described = found.parts.filter(({ sheet }) => sheet === table.sheet)
  const columns = table.names.map((name, at) => {
    const said = described.map((part) => part.columns[at]).filter((column) => column !== undefined)
    return said.find(({ field }) => field) ?? said[0] ?? { name, position: at + 1, samples: [], blanks: 0, values: [] }
  })
  return { parts, columns }
}

/** A sheet whose proposal is to be made anew: as what, by which header. */
export type Asked = { role: Part["role"]; header_row?: number | undefined }

/** Return a mapping of which only this is said of a sheet, so that the rest is proposed. */
export function asking(mapping: Mapping, sheet: string | null, { role, header_row }: Asked): Mapping {
  const open: Part = { ...(sheet !== null && { sheet }), role, ...(header_row !== undefined && { header_row }) }
  return withParts(mapping, sheet, [open])
}

/** Return a mapping with what is proposed anew for a sheet and what a person had set for it by hand; and what is lost. */
export function takenAnew(
  mapping: Mapping,
  found: Inspection,
  sheet: string | null,
  before: Proposal | undefined,
  fields: OfProject[] = [],
): { mapping: Mapping; lost: Lost[] } {
  const to = proposalsOf(found).get(sheet)
  // The others stay as they were sent: fields that are to be made of them are not in the answer.
  const anew = { ...(found.record_mapping ?? mapping), sheets: mapping.sheets }
  if (!to) return { mapping: anew, lost: [] }
  if (!before) return { mapping: withParts(anew, sheet, to.parts), lost: [] }
  const { parts, lost } = carriedOver(partsOf(mapping, sheet), before, to, fields)
  return { mapping: withParts(anew, sheet, parts), lost }
}

/** Return why a column becomes what it does, and how sure that is, as long as it is what was proposed. */
export function reasonOf(parts: Part[], column: Column, proposal: Proposal | undefined): Described | undefined {
  if (!proposal || targetOf(parts, column) !== targetOf(proposal.parts, column)) return undefined
  return proposal.columns[column.position - 1]
}

/** A problem of a row: which column it is about, if one. */
export type CellProblem = { column: number | null; message: string }

/** Return what is wrong in the first rows of a sheet, by the number of the row. */
export function problemsOf({ rows }: Inspection, sheet: string | null): Map<number, CellProblem[]> {
  const found = new Map<number, CellProblem[]>()
  for (const row of rows.filter((one) => one.sheet === sheet)) {
    const problems = row.problems.map(({ column, message }) => ({ column: column ?? null, message }))
    if (problems.length > 0) found.set(row.row, [...(found.get(row.row) ?? []), ...problems])
  }
  return found
}

/** Return what each sheet that is read becomes, in the order of the file. */
export function rolesOf({ tables }: Inspection, mapping: Mapping): { table: Table; role: string }[] {
  return tables
    .map((table) => ({ table, role: roleOf(partsOf(mapping, table.sheet)) }))
    .filter(({ role }) => role !== "ignore")
}
