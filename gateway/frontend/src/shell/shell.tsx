import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react"
import { Link, useLocation } from "wouter"
import { useIsAway } from "../api/connection"
import { useLiveData } from "../api/live"
import { Boundary } from "../kit/boundary"
import { Button } from "../kit/button"
import { useKeptScroll } from "../kit/scroll"
import { type Shortcut, useShortcuts } from "../kit/shortcuts"
import { m } from "../messages"
import { useSession } from "../session/session"
import { AccountMenu } from "./account-menu"
import { Icon, Mark } from "./icons"
import { type Place, usePlaces } from "./places"
import css from "./shell.module.css"

const OVERLAYS = {
  ShortcutSheet: () => import("./shortcut-sheet"),
  Palette: () => import("./palette"),
  SignInAgain: () => import("../session/sign-in-again"),
}
const ShortcutSheet = lazy(OVERLAYS.ShortcutSheet)
const Palette = lazy(OVERLAYS.Palette)
const SignInAgain = lazy(OVERLAYS.SignInAgain)
const ProjectMenu = lazy(() => import("../projects/menu"))
const LOADED_AHEAD_MS = 3000

/** What surrounds every screen: navigation, account, shortcuts, and signing in again over it when a session ends. */
export function Shell({ children }: { children: ReactNode }) {
  const groups = usePlaces()
  const places = groups.flatMap((group) => group.places)
  const [open, setOpen] = useState<"sheet" | "palette">()
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [here, go] = useLocation()
  const session = useSession()
  const content = useRef<HTMLElement>(null)
  useLiveData()
  useEffect(() => {
    // They open at once then, and signing in again works when nothing else does.
    const timer = setTimeout(() => {
      // Without a connection they are loaded when they are asked for.
      for (const load of Object.values(OVERLAYS)) load().catch(() => undefined)
    }, LOADED_AHEAD_MS)
    return () => clearTimeout(timer)
  }, [])
  useKeptScroll(content)
  const close = () => setOpen(undefined)
  useShortcuts([
    { keys: "?", label: m.shell.shortcuts, group: "everywhere", run: () => setOpen("sheet") },
    { keys: "Mod+k", label: m.shell.search, group: "everywhere", run: () => setOpen("palette") },
    { keys: "/", label: m.shell.searchHere, group: "everywhere", run: () => search() || setOpen("palette") },
    ...places.map(({ path, label, key }): Shortcut => ({ keys: `g ${key}`, label, group: "go", run: () => go(path) })),
  ])
  return (
    <div className={css.shell}>
      <a className={css.skip} href="#content">
        {m.shell.skip}
      </a>
      <header className={css.bar}>
        <Button look="quiet" aria-expanded={isMenuOpen} onPress={() => setMenuOpen(!isMenuOpen)}>
          {m.shell.menu}
        </Button>
        <Link href="/">{m.common.product}</Link>
      </header>
      <nav className={css.navigation} data-open={isMenuOpen || undefined} aria-label={m.shell.navigation}>
        <Link href="/" className={css.product}>
          <Mark /> {m.common.product}
        </Link>
        <div className={css.project}>
          <Suspense>
            <ProjectMenu />
          </Suspense>
        </div>
        <Button keys="Mod+k" look="plain" onPress={() => setOpen("palette")}>
          {m.shell.find}
        </Button>
        <div className={css.groups}>
          {groups.map(({ name, places: ofGroup }, at) => (
            <ul key={name} aria-label={name} data-name={at > 0 ? name : undefined}>
              {ofGroup.map((place) => (
                <li key={place.path}>
                  <NavigationLink place={place} onGone={() => setMenuOpen(false)} />
                </li>
              ))}
            </ul>
          ))}
        </div>
        <AccountMenu openSheet={() => setOpen("sheet")} />
      </nav>
      <div className={css.screen}>
        <AwayBar />
        <main id="content" ref={content} className={css.content} tabIndex={-1}>
          <Boundary of={here}>{children}</Boundary>
        </main>
      </div>
      <Suspense>
        {open === "sheet" && <ShortcutSheet close={close} />}
        {open === "palette" && <Palette places={places} openSheet={() => setOpen("sheet")} close={close} />}
        {session.state === "expired" && <SignInAgain email={session.user.email} />}
      </Suspense>
    </div>
  )
}

function NavigationLink({ place: { path, label, icon, count }, onGone }: { place: Place; onGone: () => void }) {
  const [here] = useLocation()
  const isHere = path === "/" ? here === "/" : here.startsWith(path)
  return (
    <Link href={path} className={css.link} aria-current={isHere ? "page" : undefined} onClick={onGone}>
      <Icon name={icon} />
      <span>{label}</span>
      {count && (
        <span className={css.count}>
          <span aria-hidden="true">{count.shown}</span>
          <span className="visually-hidden">, {count.read}</span>
        </span>
      )}
    </Link>
  )
}

function AwayBar() {
  const isAway = useIsAway()
  return <div role="status">{isAway && <p className={css.away}>{m.common.offline}</p>}</div>
}

/** Lead to the search of the screen; return whether it has one. */
function search(): boolean {
  const field = document.querySelector<HTMLInputElement>("#content input[type=search]")
  field?.focus()
  field?.select()
  return field !== null
}
