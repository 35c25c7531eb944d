import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { useLocation } from "wouter"
import { api } from "../api/client"
import { type Command, CommandList } from "../kit/command-list"
import { Dialog } from "../kit/dialog"
import { useSettled } from "../kit/settled"
import { currentShortcuts } from "../kit/shortcuts"
import { m } from "../messages"
import { signOut } from "../session/sign-out"
import type { Place } from "./places"
import { type Density, prefer, type Theme } from "./preferences"

const TYPING_MS = 150
const MOST_FOUND = 8
const PATHS = { requirement: "/requirements", test_case: "/test-cases" }

type Props = {
  places: Place[]
  openSheet: () => void
  close: () => void
}

/** Every screen and every action by its name, and items by their words. */
export default function Palette({ places, openSheet, close }: Props) {
  const [text, setText] = useState("")
  const [, go] = useLocation()
  const found = useFound(text.trim())
  // Of the screen as it was before the palette: what is registered later lies over it.
  const [here] = useState(() => currentShortcuts().filter(({ group }) => (group ?? "here") === "here"))
  const goTo = (path: string): void => go(path)
  const screens = places.map(({ path, label }) => ({ id: path, label, run: () => goTo(path) }))
  const actions: Command[] = [
    ...here.map(({ keys, label, run }) => ({ id: `key ${keys}`, label, detail: keys, run })),
    { id: "projects", label: m.projects.all, run: () => goTo("/projects") },
    { id: "account", label: m.shell.account, run: () => goTo("/account") },
    { id: "shortcuts", label: m.shell.shortcuts, run: openSheet },
    ...Object.entries(m.shell.themes).map(([theme, label]) => ({
      id: `theme ${theme}`,
      label: `${m.shell.theme}: ${label}`,
      run: () => prefer({ theme: theme as Theme }),
    })),
    ...Object.entries(m.shell.densities).map(([density, label]) => ({
      id: `density ${density}`,
      label: `${m.shell.density}: ${label}`,
      run: () => prefer({ density: density as Density }),
    })),
    { id: "sign-out", label: m.shell.signOut, run: () => void signOut() },
  ]
  const fitting = (commands: Command[]) =>
    commands
      .filter(({ label }) => label.toLocaleLowerCase().includes(text.trim().toLocaleLowerCase()))
      .map((command) => ({
        ...command,
        run: () => {
          close()
          command.run()
        },
      }))
  const items = found.items.map((item) => ({
    id: item.id,
    label: [item.external_id, item.title].filter(Boolean).join(" "),
    detail: item.module ?? undefined,
    run: () => {
      close()
      goTo(`${PATHS[item.type]}/${item.id}`)
    },
  }))
  return (
    <Dialog title={m.shell.search} onClose={close} wide>
      <CommandList
        label={m.shell.search}
        placeholder={m.shell.searchHint}
        text={text}
        onText={setText}
        groups={[
          { title: m.shell.palette.go, commands: fitting(screens) },
          { title: m.shell.palette.found, commands: items },
          { title: m.shell.palette.actions, commands: fitting(actions) },
        ]}
        nothing={found.isSearching ? m.shell.searching : m.shell.palette.nothing}
      />
    </Dialog>
  )
}

function useFound(text: string) {
  const asked = useSettled(text, TYPING_MS)
  const search = useQuery({
    queryKey: ["search", asked],
    queryFn: ({ signal }) => api.get("/api/v1/search", { params: { query: { q: asked, limit: MOST_FOUND } }, signal }),
    enabled: asked !== "",
    placeholderData: keepPreviousData,
  })
  return { items: text && search.data ? search.data.items : [], isSearching: asked !== text || search.isFetching }
}
