import { useState } from "react"
import { useLocation, useSearch } from "wouter"
import { Field } from "../kit/field"
import { Ask } from "../kit/form"
import { Menu, type MenuEntry } from "../kit/menu"
import { toast } from "../kit/toast"
import { m } from "../messages"
import { kept } from "../store"
import { changed } from "../url"
import type { Kind } from "./kinds"

type View = { name: string; query: string }

const words = m.items.views

/** Named queries of a list, kept in this browser. */
export function Views({ kind }: { kind: Kind }) {
  const setting = `traceline.views.${kind.name}`
  const [views, setViews] = useState(() => kept<View[]>(setting, []))
  const [name, setName] = useState<string>()
  const [path, go] = useLocation()
  const query = changed(useSearch(), { peek: undefined })
  const current = views.find((view) => view.query === query)
  function keep(next: View[]) {
    localStorage.setItem(setting, JSON.stringify(next))
    setViews(next)
  }
  function save() {
    const given = name?.trim()
    if (!given) return
    keep([...views.filter((view) => view.name !== given), { name: given, query }])
    setName(undefined)
    toast(words.saved)
  }
  const entries: MenuEntry[] = [
    { id: "all", label: words.all, isChosen: query === "", run: () => go(path) },
    ...views.map((view) => ({
      id: `view ${view.name}`,
      label: view.name,
      isChosen: view === current,
      run: () => go(`${path}?${view.query}`),
    })),
  ]
  if (query !== "" && !current) entries.push({ id: "save", label: words.save, run: () => setName("") })
  if (current) {
    const rest = views.filter((view) => view !== current)
    entries.push({ id: "remove", label: words.remove(current.name), run: () => keep(rest) })
  }
  return (
    <>
      <Menu label={current?.name ?? words.menu} entries={entries} />
      {name !== undefined && (
        <Ask title={words.save} action={m.common.save} run={save} close={() => setName(undefined)}>
          <Field label={words.name} value={name} onChange={setName} autoFocus isRequired maxLength={80} />
        </Ask>
      )}
    </>
  )
}
