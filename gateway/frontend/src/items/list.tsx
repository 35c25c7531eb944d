import { useQuery } from "@tanstack/react-query"
import { useEffect, useMemo, useRef, useState } from "react"
import { useLocation } from "wouter"
import { Button } from "../kit/button"
import { Count } from "../kit/filter-bar"
import { Page, Rest } from "../kit/page"
import { useShortcuts } from "../kit/shortcuts"
import { Failure, Skeleton } from "../kit/states"
import { parseSort, VirtualTable, writeSort } from "../kit/table"
import { useActiveRow, useTableKeys } from "../kit/table-keys"
import { m } from "../messages"
import { useMay } from "../session/session"
import { useUrl } from "../url"
import { readRows, WITH_DATA } from "./api"
import { BulkBar } from "./bulk"
import { useColumns } from "./column-choice"
import { Create } from "./create"
import { type ItemRow, type Kind, REQUIREMENTS, TEST_CASES } from "./kinds"
import { keepPlace, placeOf } from "./memory"
import { NothingThere } from "./nothing"
import { Peek } from "./peek"
import { useProjectFields } from "./project-fields"
import { listUrl, queryOf, usedFilters } from "./query"
import { RowEditor } from "./row-editor"
import { useSave } from "./save"
import { useSelection } from "./selection"
import { Toolbar } from "./toolbar"
import { useRows } from "./windows"

const PEEK_MS = 200

export const RequirementList = () => <ItemList kind={REQUIREMENTS} />
export const TestCaseList = () => <ItemList kind={TEST_CASES} />

/** The list of requirements or of test cases. */
function ItemList({ kind }: { kind: Kind }) {
  const own = useProjectFields(kind)
  const [url, setUrl] = useUrl(useMemo(() => listUrl(own), [own]))
  const query = useMemo(() => queryOf(kind, url), [kind, url])
  const asked = useMemo(() => (own.length > 0 ? { ...query, [WITH_DATA]: "yes" } : query), [own, query])
  const { rows, onSight } = useRows(kind, asked)
  const place = useRef(placeOf(kind, query))
  const [peeked, setPeeked] = useState(url.peek)
  const [edited, setEdited] = useState<{ index: number; row: ItemRow; column: string | undefined }>()
  const [isCreating, setCreating] = useState(false)
  const { selected, ...selection } = useSelection(place.current.selected, rows.row)
  const { columns, choice } = useColumns(kind, own)
  const [save, clash] = useSave(kind)
  const { table, active, activate, begin } = useActiveRow((index, keepsRange) => {
    if (!keepsRange) selection.endRange()
    if (peeked) setPeeked(rows.row(index)?.id ?? peeked)
  }, place.current.active)
  const [, go] = useLocation()
  const mayWrite = useMay("reviewer")
  const count = rows.total ?? place.current.total
  const current = rows.row(active)

  const extendTo = (index: number) => {
    selection.extend(active, index)
    activate(index, true)
  }
  const peek = (index: number) => setPeeked(peeked === rows.row(index)?.id ? undefined : rows.row(index)?.id)
  const edit = (index: number, column?: string) => {
    const row = rows.row(index)
    if (mayWrite && row) setEdited({ index, row, column })
  }

  useTableKeys({
    active,
    count,
    onActive: activate,
    onOpen: () => current && go(`${kind.path}/${current.id}`),
    onPeek: () => peek(active),
    onSelect: mayWrite ? () => selection.toggle(active) : undefined,
    onExtend: mayWrite ? extendTo : undefined,
  })
  useShortcuts(
    mayWrite
      ? [
          { keys: "e", label: m.items.edit, run: () => edit(active, "title") },
          { keys: "c", label: kind.words.create, run: () => setCreating(true) },
        ]
      : [],
  )
  useFromTheTop(place.current.query, JSON.stringify(query), () => {
    setEdited(undefined)
    begin()
  })
  useEffect(() => {
    const timer = setTimeout(() => setUrl({ peek: peeked }, { replace: true }), PEEK_MS)
    return () => clearTimeout(timer)
  })
  useEffect(() => {
    place.current = {
      ...place.current,
      query: JSON.stringify(query),
      search: location.search,
      active,
      total: count,
      selected,
      ids: around(active, rows.row),
    }
    keepPlace(kind, place.current)
  }, [kind, query, active, count, selected, rows.row])

  const isNarrowed = usedFilters(kind, url).length > 0
  const isEmpty = rows.total === 0 && !rows.isStale
  return (
    <Page
      title={kind.words.many}
      fill
      actions={
        mayWrite && (
          <Button look="primary" keys="c" onPress={() => setCreating(true)}>
            {kind.words.create}
          </Button>
        )
      }
    >
      <Toolbar kind={kind} own={own} url={url} setUrl={setUrl} choice={choice}>
        <Found kind={kind} found={rows.total} isNarrowed={isNarrowed} />
      </Toolbar>
      <Rest beside={peeked && <Peek kind={kind} id={peeked} close={() => setPeeked(undefined)} />}>
        {rows.error ? <Failure error={rows.error} retry={rows.retry} /> : null}
        {isEmpty && <NothingThere kind={kind} url={url} setUrl={setUrl} create={() => setCreating(true)} />}
        {rows.total === undefined && !rows.error && place.current.total === 0 && <Skeleton rows={16} />}
        {count > 0 && !isEmpty && (
          <VirtualTable
            ref={table}
            label={kind.words.many}
            columns={columns}
            count={count}
            row={rows.row}
            onSight={onSight}
            active={active}
            onActive={activate}
            onPress={peek}
            onEdit={edit}
            editor={
              edited && {
                index: edited.index,
                content: (shown) => (
                  <RowEditor
                    kind={kind}
                    row={edited.row}
                    columns={shown}
                    focused={edited.column}
                    save={save}
                    close={(returnsFocus) => {
                      setEdited(undefined)
                      if (returnsFocus) table.current?.focus()
                    }}
                  />
                ),
              }
            }
            sort={parseSort(url.sort)}
            onSort={(sort) => setUrl({ sort: writeSort(sort) })}
            selection={
              mayWrite
                ? {
                    has: (row) => selected.rows.has(row.id),
                    isAll: selected.isAll,
                    toggle: selection.toggle,
                    extendTo,
                    toggleAll: selection.toggleAll,
                    labelOfAll: m.items.selectAll,
                    labelOf: ({ external_id, title }) => m.items.select(external_id ?? title),
                  }
                : undefined
            }
            isStale={rows.isStale}
            offset={place.current.offset}
            onOffset={(offset) => {
              place.current.offset = offset
            }}
          />
        )}
        {mayWrite && <BulkBar kind={kind} query={query} total={count} selected={selected} become={selection.become} />}
      </Rest>
      {clash}
      {isCreating && <Create kind={kind} close={() => setCreating(false)} />}
    </Page>
  )
}

/** Call `begin` when the list is asked something else than before. */
function useFromTheTop(atFirst: string, query: string, begin: () => void): void {
  const before = useRef(atFirst)
  useEffect(() => {
    if (before.current !== query) begin()
    before.current = query
  })
}

function Found({ kind, found, isNarrowed }: { kind: Kind; found: number | undefined; isNarrowed: boolean }) {
  const { data } = useQuery({
    queryKey: [kind.key, "total"],
    queryFn: ({ signal }) => readRows(kind, { limit: "1" }, signal),
    enabled: isNarrowed,
  })
  if (found === undefined) return null
  const all = isNarrowed ? data?.total : found
  const words = isNarrowed && all !== undefined ? kind.words.count(found, all) : undefined
  return <Count>{words ?? kind.words.some(found)}</Count>
}

const AROUND = 100

/** Return the ids of the rows around one, as far as they have been read. */
function around(active: number, row: (index: number) => ItemRow | undefined): string[] {
  const first = Math.max(0, active - AROUND)
  const ids: string[] = []
  for (let index = first; index <= active + AROUND; index++) {
    const id = row(index)?.id
    if (id) ids.push(id)
    else if (index < active) ids.length = 0
    else break
  }
  return ids
}
