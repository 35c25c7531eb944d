import { useQuery } from "@tanstack/react-query"
import { type ComponentType, lazy, type ReactNode, Suspense } from "react"
import { Redirect, Route, Switch } from "wouter"
import { ApiProblem } from "./api/problem"
import { Button } from "./kit/button"
import { Page, useTitle } from "./kit/page"
import { Failure, Skeleton } from "./kit/states"
import { m } from "./messages"
import { MAIN, projectKey } from "./projects/address"
import { homeOf, LAST, openProjects, thisProject } from "./projects/queries"
import { SignIn } from "./session/page"
import css from "./session/page.module.css"
import { demoProject, readSession, useSession } from "./session/session"
import { signOut } from "./session/sign-out"
import { Shell } from "./shell/shell"
import { kept } from "./store"

/** The screens below /p/{project}, each loaded when it is first opened. */
const SCREENS: Record<string, ComponentType> = {
  "/": lazy(() => import("./dashboard/page")),
  "/review": lazy(() => import("./review/page")),
  "/suspect": lazy(() => import("./suspect/page")),
  "/outline": lazy(() => import("./outline/page")),
  "/tree": lazy(() => import("./levels/page")),
  "/matrix": lazy(() => import("./matrix/page")),
  "/notifications": lazy(() => import("./notifications/page")),
  "/results": lazy(async () => ({ default: (await import("./results/screens")).ResultsPage })),
  "/results/connect": lazy(async () => ({ default: (await import("./results/screens")).ConnectPage })),
  "/results/session": lazy(() => import("./results/session")),
  "/results/:id": lazy(async () => ({ default: (await import("./results/screens")).RunPage })),
  "/imports": lazy(() => import("./exchange/imports")),
  "/imports/:id": lazy(() => import("./exchange/job")),
  "/imports/:id/rows": lazy(() => import("./exchange/rows")),
  "/exports": lazy(() => import("./exchange/exports")),
  "/admin/users": lazy(() => import("./admin/users")),
  "/admin/audit": lazy(() => import("./admin/audit")),
  "/projects": lazy(() => import("./projects/list")),
  "/settings": lazy(() => import("./projects/settings")),
  "/account": lazy(() => import("./session/account")),
  "/requirements": lazy(async () => ({ default: (await import("./items/list")).RequirementList })),
  "/requirements/:id": lazy(async () => ({ default: (await import("./items/detail")).RequirementDetail })),
  "/test-cases": lazy(async () => ({ default: (await import("./items/list")).TestCaseList })),
  "/test-cases/:id": lazy(async () => ({ default: (await import("./items/detail")).TestCaseDetail })),
}

/** The pages of who is not signed in, beside the one for signing in. */
const OUTSIDE: Record<string, ComponentType> = {
  "/register": lazy(() => import("./session/register")),
  "/accept-invitation": lazy(async () => ({ default: (await import("./session/by-link")).AcceptInvitation })),
  "/forgot-password": lazy(async () => ({ default: (await import("./session/by-link")).ForgotPassword })),
  "/reset-password": lazy(async () => ({ default: (await import("./session/by-link")).ResetPassword })),
}

/** What is at each address. */
export function Routes() {
  return (
    <Switch>
      <Route path="/sign-in">
        <SignIn />
      </Route>
      {Object.entries(OUTSIDE).map(([path, Screen]) => (
        <Route key={path} path={path}>
          <Suspense>
            <Screen />
          </Suspense>
        </Route>
      ))}
      <Route path="/p/:project" nest>
        <SignedIn />
      </Route>
      <Route path="/">
        <Home />
      </Route>
      <Route>
        <Lone title={m.common.notFound}>
          <a href="/">{m.common.product}</a>
        </Lone>
      </Route>
    </Switch>
  )
}

const MustEnrol = lazy(() => import("./session/must-enrol"))
const OwnPassword = lazy(() => import("./session/own-password"))

/** Lead to the project that this browser was in last. */
function Home() {
  const { state } = useSession()
  if (state === "loading") return <Skeleton />
  return <Redirect to={homeOf(kept(LAST, demoProject() ?? MAIN))} replace />
}

function SignedIn() {
  const { state } = useSession()
  if (state === "loading") return <Skeleton />
  if (state === "unreachable") return <Failure error={undefined} retry={() => void readSession()} />
  if (state === "signed-out") {
    const here = location.pathname + location.search
    return <Redirect to={`~/sign-in?next=${encodeURIComponent(here)}`} replace />
  }
  return <InProject />
}

function InProject() {
  const { data, error } = useQuery(thisProject())
  if (error instanceof ApiProblem && error.code === "project_not_found") return <NoProject />
  if (error instanceof ApiProblem && error.code === "password_change_required") return <OwnPassword />
  if (error instanceof ApiProblem && error.code === "second_factor_enrolment_required") return <MustEnrol />
  // In MAIN the role is nearly always that of the account, which is known.
  if (!data && projectKey() !== MAIN) return error ? <Failure error={error} /> : <Skeleton />
  return (
    <Shell>
      <Suspense fallback={<Skeleton />}>
        <Switch>
          {Object.entries(SCREENS).map(([path, Screen]) => (
            <Route key={path} path={path}>
              <Screen />
            </Route>
          ))}
          <Route>
            <Page title={m.common.notFound}>{null}</Page>
          </Route>
        </Switch>
      </Suspense>
    </Shell>
  )
}

/** Why somebody is in no project, and the ways to those that they have access to. */
function NoProject() {
  const { data } = useQuery(openProjects)
  return (
    <Lone title={m.projects.gone}>
      <p className={css.quiet}>{m.projects.goneHint}</p>
      <ul>
        {data?.items.map(({ key, name }) => (
          <li key={key}>
            <a href={homeOf(key)}>{name}</a>
          </li>
        ))}
      </ul>
      <Button onPress={() => void signOut()}>{m.shell.signOut}</Button>
    </Lone>
  )
}

/** What is said without navigation around it. */
function Lone({ title, children }: { title: string; children: ReactNode }) {
  useTitle(title)
  return (
    <main className={css.page}>
      <h1>{title}</h1>
      {children}
    </main>
  )
}
