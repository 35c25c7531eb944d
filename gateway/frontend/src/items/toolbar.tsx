import { useQuery } from "@tanstack/react-query"
import { type ReactNode, useState } from "react"
import { Button, ButtonLink } from "../kit/button"
import { Filter, type Option } from "../kit/filter"
import { Menu, type MenuEntry } from "../kit/menu"
import { Search } from "../kit/search"
import { m } from "../messages"
import { type Verdict, verificationSummary } from "../results/verdict"
import { words } from "../results/words"
import { changed } from "../url"
import { readFacet } from "./api"
import { type FacetName, type Kind, word } from "./kinds"
import css from "./list.module.css"
import { chosenBy, PREFIX, type ProjectField, shownAlternative } from "./project-fields"
import { type ListUrl, queryOf, usedFilters } from "./query"
import { Views } from "./views"

const NOT_COUNTED: Partial<Record<FacetName, string[]>> = {
  coverage: ["none", "covered", "suspect"],
  linked: ["true", "false"],
}

export type SetUrl = (change: Partial<ListUrl>, options?: { replace?: boolean }) => void
type Props = {
  kind: Kind
  /** The fields that items of the kind have in this project beside those of all. */
  own: ProjectField[]
  url: ListUrl
  setUrl: SetUrl
  choice: MenuEntry[]
  children: ReactNode
}

/** Search, filters, views and columns of a list. */
export function Toolbar({ kind, own, url, setUrl, choice, children }: Props) {
  const used = usedFilters(kind, url)
  const hasResults = useQuery(verificationSummary).data?.hasResults
  return (
    <search className={css.toolbar}>
      <div className={css.line}>
        <div className={css.search}>
          <Search
            label={kind.words.search}
            value={url.search ?? ""}
            onChange={(search) => setUrl({ search }, { replace: true })}
          />
        </div>
        <Views kind={kind} />
        <ButtonLink look="quiet" href={`/exports?${exportOf(kind, url)}`}>
          {m.shell.exports}
        </ButtonLink>
        <Menu label={m.items.columns} entries={choice} />
      </div>
      <div className={css.line}>
        {kind.facets.map(
          (name) =>
            (name !== "verdict" || hasResults || url.verdict) && (
              <Facet key={name} kind={kind} name={name} url={url} setUrl={setUrl} />
            ),
        )}
        {chosenBy(own).map((field) => (
          <FieldFacet key={field.key} kind={kind} field={field} url={url} setUrl={setUrl} />
        ))}
        {used.length > 0 && (
          <Button look="quiet" onPress={() => setUrl(Object.fromEntries(used.map((name) => [name, undefined])))}>
            {m.common.clearFilters}
          </Button>
        )}
        {children}
      </div>
    </search>
  )
}

/** Return the query of the export of what a list shows. */
function exportOf(kind: Kind, url: ListUrl): string {
  const { sort: _, ...filters } = queryOf(kind, url)
  return changed("", { kind: `${kind.name}s`, ...filters })
}

type FacetProps = Omit<Props, "choice" | "children" | "own"> & { name: FacetName }

function FieldFacet({ kind, field, url, setUrl }: Omit<FacetProps, "name"> & { field: ProjectField }) {
  const [isOpen, setOpen] = useState(false)
  const name = `${PREFIX}${field.key}` as const
  const { sort: _, ...filters } = queryOf(kind, url)
  const { data } = useQuery({
    queryKey: [kind.key, "facets", name, filters],
    queryFn: ({ signal }) => readFacet(kind, name, filters, signal),
    enabled: isOpen,
    placeholderData: (before) => before,
  })
  const labelOf = (value: string) => (value === "" ? m.items.noValue : shownAlternative(field, value))
  const counted = data?.map(({ value, count }): Option => ({ value: value ?? "", label: labelOf(value ?? ""), count }))
  return (
    <Filter
      label={field.name}
      value={url[name]}
      onChange={(value) => setUrl({ [name]: value })}
      options={counted}
      labelOf={labelOf}
      onOpenChange={setOpen}
    />
  )
}

function Facet({ kind, name, url, setUrl }: FacetProps) {
  const [isOpen, setOpen] = useState(false)
  const fixed = name === "verdict" ? kind.verdicts : NOT_COUNTED[name]
  const { sort: _, ...filters } = queryOf(kind, url)
  const { data } = useQuery({
    queryKey: [kind.key, "facets", name, filters],
    queryFn: ({ signal }) => readFacet(kind, name, filters, signal),
    enabled: isOpen && !fixed,
    placeholderData: (before) => before,
  })
  const labelOf = (value: string) => {
    if (value === "") return m.items.noValue
    return name === "verdict" ? (words.states[value as Verdict] ?? value) : word(value)
  }
  const counted = data?.map(({ value, count }): Option => ({ value: value ?? "", label: labelOf(value ?? ""), count }))
  return (
    <Filter
      label={m.items.facets[name]}
      value={url[name]}
      onChange={(value) => setUrl({ [name]: value })}
      options={fixed ? fixed.map((value) => ({ value, label: labelOf(value) })) : counted}
      labelOf={labelOf}
      isSingle={name === "linked"}
      opener={name === kind.facets[0] ? { keys: "f", label: m.items.openFilters } : undefined}
      onOpenChange={setOpen}
    />
  )
}
