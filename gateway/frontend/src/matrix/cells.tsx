import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from "react"
import { Button } from "../kit/button"
import { Choice } from "../kit/choice"
import { Filter, optionsOf } from "../kit/filter"
import { Select } from "../kit/select"
import { Empty, NotYet } from "../kit/states"
import { m } from "../messages"
import { verificationSummary } from "../results/verdict"
import { useAddress, written } from "./address"
import { AsTable } from "./as-table"
import { Canvas } from "./canvas"
import css from "./cells.module.css"
import type { Cell } from "./decode"
import type { Band } from "./frame"
import { type Axis, Labels } from "./labels"
import { Legend } from "./legend"
import { bandsOf, type ModuleMatrix, matrixOf, type Read, readLabels } from "./queries"
import type { Range } from "./view"

const EVERYWHERE = "*"

/** The matrix cell by cell, narrowed to modules of requirements and begun at a module of test cases. */
export function Cells({ modules }: { modules: ModuleMatrix }) {
  const [{ module, columns, show: shows = "links", as }, change] = useAddress()
  const query = useQuery(matrixOf(module, shows))
  const hasResults = useQuery(verificationSummary).data?.hasResults ?? false
  const { data } = query
  const bands = useQuery(bandsOf(module)).data
  const labels = useLabels(data, module, hasResults)
  const nameOf = (value: string) => value || m.matrix.noModule
  const columnModules = (bands?.column ?? []).map((band) => ({ value: written(band.module), label: band.name }))
  return (
    <>
      <div className={css.filters}>
        <Filter
          label={m.matrix.requirementsOf}
          value={module}
          onChange={(value) => change({ module: value, at: "0,0", zoom: undefined })}
          options={modules.rows.map((one) => ({
            value: one.module ?? "",
            label: nameOf(one.module ?? ""),
            count: one.items,
          }))}
          labelOf={nameOf}
        />
        <Select
          label={m.matrix.testCasesOf}
          value={columnModules.some(({ value }) => value === columns) ? (columns ?? EVERYWHERE) : EVERYWHERE}
          options={[{ value: EVERYWHERE, label: m.matrix.allModules }, ...columnModules]}
          onChange={(value) =>
            change({ columns: value === EVERYWHERE ? undefined : value, at: "0,0", zoom: undefined })
          }
        />
        <Button keys="t" aria-pressed={as === "table"} onPress={() => change({ as: as ? undefined : "table" })}>
          {as ? m.matrix.asMap : m.matrix.asTable}
        </Button>
        {(hasResults || shows === "results") && (
          <Choice
            label={m.matrix.shows}
            value={shows}
            options={optionsOf(m.matrix.shown)}
            onChange={(next) => change({ show: next === "results" ? next : undefined })}
          />
        )}
        <Legend shows={shows} hasResults={hasResults} />
      </div>
      <NotYet query={query} rows={12} />
      {data && data.matrix.rows === 0 && (
        <Empty title={m.matrix.noRows}>
          <Button onPress={() => change({ module: undefined, at: "0,0" })}>{m.common.clearFilters}</Button>
        </Empty>
      )}
      {data && data.matrix.rows > 0 && <Shown key={module ?? ""} data={data} labels={labels} bands={bands} />}
    </>
  )
}

type ShownProps = { data: Read; labels: Known; bands: Record<Axis, Band[]> | undefined }

function Shown({ data: { matrix }, labels, bands }: ShownProps) {
  const [{ as, at }] = useAddress()
  // Where the map stands changes with each of its frames: nothing is to be shown again for that.
  const first = useRef<Cell>(undefined)
  if (as !== "table") return <Canvas matrix={matrix} labels={labels} bands={bands} sight={first} />
  return <AsTable matrix={matrix} labels={labels} begin={first.current ?? at ?? { row: 0, column: 0 }} />
}

/** The labels, and how often there were more of them. */
export type Known = { labels: Labels; count: number }

/** Return the labels of a matrix, and have the calling part shown again when there are more of them. */
function useLabels(data: Read | undefined, module: string | undefined, hasResults: boolean): Known {
  const client = useQueryClient()
  const [count, setCount] = useState(0)
  const etag = data?.etag
  const askedFor = useRef<string>(undefined)
  const read = useCallback(
    (axis: Axis, range: Range) =>
      readLabels(
        axis,
        range,
        module,
        etag,
        () => {
          if (askedFor.current === etag) return
          askedFor.current = etag
          void client.invalidateQueries({ queryKey: ["reports", "matrix", module ?? null] })
        },
        hasResults,
      ),
    [client, module, etag, hasResults],
  )
  const first = useRef(read)
  first.current = read
  const labels = useMemo(() => new Labels(first.current, () => setCount((one) => one + 1)), [module])
  useLayoutEffect(() => {
    labels.renew(read)
    setCount((one) => one + 1)
  }, [labels, read])
  return useMemo(() => ({ labels, count }), [labels, count])
}
