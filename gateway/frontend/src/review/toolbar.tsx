import { useQuery } from "@tanstack/react-query"
import { memo, useEffect, useState } from "react"
import { Button } from "../kit/button"
import { Field } from "../kit/field"
import { Select } from "../kit/select"
import { formatCount, m } from "../messages"
import { BANDS, type Filters, isNarrowed, METHODS, NO_FILTERS, SORTS } from "./filters"
import { facetsOf } from "./queries"
import css from "./toolbar.module.css"

const ALL = "*"

type Props = {
  filters: Filters
  change: (some: Partial<Filters>) => void
}

/** What narrows and orders the queue; all of it stands in the address. */
export const Toolbar = memo(function Toolbar({ filters, change }: Props) {
  const { data: facets } = useQuery(facetsOf(filters))
  const modules = (facets?.module ?? []).map(({ value, count }) => ({
    value: value ?? "",
    label: m.review.withCount(value ?? m.common.noModule, formatCount(count)),
  }))
  if (filters.module !== undefined && !modules.some(({ value }) => value === filters.module)) {
    modules.unshift({ value: filters.module, label: filters.module || m.common.noModule })
  }
  const count = (facet: "band" | "method", value: string, label: string) => {
    const found = facets?.[facet]?.find((one) => one.value === value)
    return { value, label: found ? m.review.withCount(label, formatCount(found.count)) : label }
  }
  return (
    <fieldset className={css.toolbar} aria-label={m.review.filters}>
      <Select
        label={m.review.module}
        hideLabel
        value={filters.module ?? ALL}
        options={[{ value: ALL, label: m.review.allModules }, ...modules]}
        onChange={(value) => change({ module: value === ALL ? undefined : value })}
      />
      {(filters.band || isThereAny(facets?.band)) && (
        <Select
          label={m.review.band}
          hideLabel
          value={filters.band ?? ALL}
          options={[
            { value: ALL, label: m.review.allBands },
            ...BANDS.map((band) => count("band", band, m.common.bands[band])),
          ]}
          onChange={(value) => change({ band: BANDS.find((band) => band === value) })}
        />
      )}
      {(filters.method || (facets?.method?.length ?? 0) > 1) && (
        <Select
          label={m.review.method}
          hideLabel
          value={filters.method ?? ALL}
          options={[
            { value: ALL, label: m.review.allMethods },
            ...METHODS.map((method) => count("method", method, m.review.methods[method])),
          ]}
          onChange={(value) => change({ method: METHODS.find((method) => method === value) })}
        />
      )}
      <MinScore value={filters.min} change={(min) => change({ min })} />
      <Select
        label={m.review.sort}
        hideLabel
        value={filters.sort}
        options={SORTS.map((value) => ({ value, label: m.review.sorts[value] }))}
        onChange={(sort) => change({ sort })}
      />
      {isNarrowed(filters) && (
        <Button look="quiet" onPress={() => change(NO_FILTERS)}>
          {m.common.clearFilters}
        </Button>
      )}
    </fieldset>
  )
})

/** Check whether a choice would find anything: most scores have no band. */
function isThereAny(values: { value: string | null }[] | undefined): boolean {
  return values?.some(({ value }) => value !== null) ?? false
}

/** The lowest score; it counts when Enter is pressed or the field is left. */
function MinScore({ value, change }: { value: number | undefined; change: (min: number | undefined) => void }) {
  const [text, setText] = useState(value?.toString() ?? "")
  useEffect(() => setText(value?.toString() ?? ""), [value])
  function take() {
    const min = Number(text)
    const isRight = text.trim() !== "" && min >= 0 && min <= 1
    setText(isRight ? String(min) : "")
    if ((isRight ? min : undefined) !== value) change(isRight ? min : undefined)
  }
  return (
    <div className={css.min}>
      <Field
        label={m.review.minScore}
        hideLabel
        inputMode="decimal"
        placeholder={m.review.minScore}
        value={text}
        onChange={setText}
        onBlur={take}
        onKeyDown={({ key }) => key === "Enter" && take()}
      />
    </div>
  )
}
