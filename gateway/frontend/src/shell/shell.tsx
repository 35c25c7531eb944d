import { type ReactNode, useState } from "react"
import { Link, useLocation } from "wouter"
import { Button } from "../kit/button"
import { Dialog } from "../kit/dialog"
import { Menu } from "../kit/menu"
import { type Shortcut, useShortcuts } from "../kit/shortcuts"
import { m } from "../messages"
import { signOut, useMay, useSession, useUser } from "../session/session"
import { SignInForm } from "../session/sign-in-form"
import { type Density, prefer, type Theme, usePreferences } from "./preferences"
import css from "./shell.module.css"
import { ShortcutSheet } from "./shortcut-sheet"

type Place = { path: string; label: string; key: string; count?: string }

/** What surrounds every screen: navigation, account, shortcuts, and signing in again over it when a session ends. */
export function Shell({ children }: { children: ReactNode }) {
  const places = usePlaces()
  const [isSheetOpen, setSheetOpen] = useState(false)
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [, go] = useLocation()
  useShortcuts([
    { keys: "?", label: m.shell.shortcuts, group: "everywhere", run: () => setSheetOpen(true) },
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
        <p className={css.product}>{m.common.product}</p>
        <ul>
          {places.map((place) => (
            <li key={place.path}>
              <NavigationLink {...place} onGone={() => setMenuOpen(false)} />
            </li>
          ))}
        </ul>
        <Account openSheet={() => setSheetOpen(true)} />
      </nav>
      <main id="content" className={css.content} tabIndex={-1}>
        {children}
      </main>
      <ShortcutSheet isOpen={isSheetOpen} close={() => setSheetOpen(false)} />
      <SignInAgain />
    </div>
  )
}

function usePlaces(): Place[] {
  const isAdmin = useMay("admin")
  const places = [
    { path: "/", label: m.shell.dashboard, key: "d" },
    { path: "/review", label: m.shell.review, key: "v" },
    { path: "/matrix", label: m.shell.matrix, key: "m" },
    { path: "/requirements", label: m.shell.requirements, key: "r" },
    { path: "/test-cases", label: m.shell.testCases, key: "t" },
    { path: "/suspect", label: m.shell.suspect, key: "s" },
    { path: "/notifications", label: m.shell.notifications, key: "n" },
  ]
  if (!isAdmin) return places
  return [
    ...places,
    { path: "/admin/users", label: m.shell.users, key: "a" },
    { path: "/admin/audit", label: m.shell.audit, key: "l" },
  ]
}

function NavigationLink({ path, label, count, onGone }: Place & { onGone: () => void }) {
  const [here] = useLocation()
  const isHere = path === "/" ? here === "/" : here.startsWith(path)
  return (
    <Link href={path} className={css.link} aria-current={isHere ? "page" : undefined} onClick={onGone}>
      {label}
      {count && <span className={css.count}>{count}</span>}
    </Link>
  )
}

function Account({ openSheet }: { openSheet: () => void }) {
  const user = useUser()
  const { theme, density } = usePreferences()
  const [, go] = useLocation()
  const themes = Object.entries(m.shell.themes).map(([id, label]) => ({
    id: `theme-${id}`,
    label: `${m.shell.theme}: ${label}`,
    isChosen: theme === id,
    run: () => prefer({ theme: id as Theme }),
  }))
  const densities = Object.entries(m.shell.densities).map(([id, label]) => ({
    id: `density-${id}`,
    label: `${m.shell.density}: ${label}`,
    isChosen: density === id,
    run: () => prefer({ density: id as Density }),
  }))
  return (
    <Menu
      label={m.shell.account}
      entries={[
        { id: "account", label: m.shell.account, run: () => go("/account") },
        ...themes,
        ...densities,
        { id: "shortcuts", label: m.shell.shortcuts, run: openSheet },
        { id: "sign-out", label: m.shell.signOut, run: () => void signOut() },
      ]}
    >
      <span className={css.user}>{user.full_name || user.email}</span>
      <span className={css.role}>{m.common.roles[user.role]}</span>
    </Menu>
  )
}

function SignInAgain() {
  const session = useSession()
  return (
    <Dialog title={m.session.expired} isOpen={session.state === "expired"}>
      <p>{m.session.expiredHint}</p>
      <SignInForm email={session.state === "expired" ? session.user.email : ""} />
    </Dialog>
  )
}
