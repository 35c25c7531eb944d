import { queryOptions } from "@tanstack/react-query"
import { api, client } from "../api/client"
import { problemOf } from "../api/problem"
import type { components } from "../api/schema"
import { m } from "../messages"
import { readVerification } from "../results/verdict"
import { decode, type Matrix, type Shows } from "./decode"
import type { Band } from "./frame"
import type { Axis, Label } from "./labels"
import type { Range } from "./view"

export type ModuleMatrix = components["schemas"]["ModuleMatrix"]
export type Read = { matrix: Matrix; etag: string }

const LONGEST_PART = 2000

/** The matrix in sums, and how much of each module's requirements is covered. */
export const moduleMatrix = queryOptions({
  queryKey: ["reports", "module-matrix"],
  queryFn: ({ signal }) => api.get("/api/v1/reports/module-matrix", { signal }),
})

export const moduleCoverage = queryOptions({
  queryKey: ["reports", "coverage-by-module"],
  queryFn: ({ signal }) => api.get("/api/v1/reports/coverage-by-module", { signal }),
})

/** All cells of the rows in some modules, or of all; to ask again whether they are the same costs next to nothing. */
export const matrixOf = (module: string | undefined, shows: Shows) =>
  queryOptions({
    queryKey: ["reports", "matrix", module ?? null, shows],
    queryFn: async ({ client: cache, queryKey, signal }): Promise<Read> => {
      const known = cache.getQueryData<Read>(queryKey)
      const { data, error, response } = await client.GET("/api/v1/reports/traceability-matrix/compact", {
        params: { query: { module, results: shows === "results" }, header: known && { "If-None-Match": known.etag } },
        parseAs: "arrayBuffer",
        signal,
      })
      if (response.status === 304 && known) return known
      if (!data) throw problemOf(response, error)
      return { matrix: decode(data, shows), etag: response.headers.get("etag") ?? "" }
    },
    structuralSharing: false,
    placeholderData: (before, query) => (query?.queryKey[2] === (module ?? null) ? before : undefined),
  })

/** Return the labels of a part of an axis; `onOther` is called when they belong to another state of the record. */
export async function readLabels(
  axis: Axis,
  range: Range,
  module: string | undefined,
  etag?: string,
  onOther?: () => void,
  hasResults?: boolean,
): Promise<Label[]> {
  const [part, verified] = await Promise.all([
    api.get("/api/v1/reports/traceability-matrix/axes", { params: { query: { axis, ...range, module } } }),
    axis === "row" && hasResults
      ? readVerification({ skip: range.from, limit: range.to - range.from, module }).catch(() => undefined)
      : undefined,
  ])
  // What results say has an ETag that begins as that of the matrix.
  if (etag && !etag.startsWith(part.matrix.slice(0, -1))) onOther?.()
  const verdicts = new Map(verified?.items.map(({ id, verdict }) => [id, verdict]))
  return part.items.map((label) => ({ ...label, verdict: verdicts.get(label.id) }))
}

/** Where each module is at the axes of the matrix, narrowed to some modules of requirements or not. */
export const bandsOf = (module: string | undefined) =>
  queryOptions({
    queryKey: ["reports", "bands", module ?? null],
    queryFn: async ({ client }): Promise<Record<Axis, Band[]>> => {
      if (module !== undefined) {
        return { row: await walked("row", module), column: await walked("column", module) }
      }
      const { rows, columns } = await client.ensureQueryData({ ...moduleMatrix, revalidateIfStale: true })
      return { row: inTurn(rows), column: inTurn(columns) }
    },
  })

function inTurn(modules: ModuleMatrix["rows"]): Band[] {
  let from = 0
  return modules.map(({ module, items }) => {
    const band = { module, name: module ?? m.matrix.noModule, from, to: from + items }
    from = band.to
    return band
  })
}

async function walked(axis: Axis, module: string): Promise<Band[]> {
  const bands: Band[] = []
  for (let from = 0; ; from += LONGEST_PART) {
    const labels = await readLabels(axis, { from, to: from + LONGEST_PART }, module)
    for (const label of labels) {
      const last = bands.at(-1)
      if (last && last.module === label.module) last.to = label.index + 1
      else {
        const name = label.module ?? m.matrix.noModule
        bands.push({ module: label.module, name, from: label.index, to: label.index + 1 })
      }
    }
    if (labels.length < LONGEST_PART) return bands
  }
}

/** The link between two items, or the suggestion of one that waits for a review. */
export const pairOf = (requirement: string, testCase: string) =>
  queryOptions({
    queryKey: ["links", "pair", requirement, testCase],
    queryFn: async ({ signal }) => {
      const pair = { requirement_id: requirement, test_case_id: testCase }
      const [links, suggestions] = await Promise.all([
        api.get("/api/v1/links", { params: { query: { ...pair, limit: 1 } }, signal }),
        api.get("/api/v1/suggestions", { params: { query: { ...pair, status: ["pending"], limit: 1 } }, signal }),
      ])
      return { link: links.items[0], suggestion: suggestions.items[0] }
    },
  })
