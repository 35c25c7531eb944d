import * as v from "valibot"
import { useUrl, writeAlternatives } from "../url"
import type { Cell } from "./decode"

const CELL = /^(\d{1,9}),(\d{1,9})$/

const cell = v.pipe(
  v.string(),
  v.regex(CELL),
  v.transform((text): Cell => {
    const [, row, column] = CELL.exec(text) as unknown as [string, string, string]
    return { row: Number(row), column: Number(column) }
  }),
)
const pixels = v.pipe(v.string(), v.nonEmpty(), v.transform(Number), v.minValue(0.001), v.maxValue(100))

const FIELDS = {
  /** Modules of the requirements, as the API takes them. */
  module: v.optional(v.string()),
  /** The module of the test cases that the cells begin with. */
  columns: v.optional(v.string()),
  at: v.optional(cell),
  zoom: v.optional(pixels),
  /** What cells show, where it is not links. */
  show: v.optional(v.picklist(["results"])),
  as: v.optional(v.picklist(["table"])),
}

/** Return what the address says of the matrix, and how to change it. Without `at` it is the matrix of modules. */
export function useAddress() {
  return useUrl(FIELDS)
}

/** Return a module as the address has it; null is what is in none. */
export function written(module: string | null): string {
  return writeAlternatives([{ value: module ?? "", not: false }]) ?? ""
}

export const writtenCell = ({ row, column }: Cell) => `${row},${column}`
