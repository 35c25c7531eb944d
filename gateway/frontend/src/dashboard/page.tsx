import { useQuery } from "@tanstack/react-query"
import { lazy, Suspense } from "react"
import * as v from "valibot"
import { ButtonLink } from "../kit/button"
import { Page } from "../kit/page"
import { Select } from "../kit/select"
import { Skeleton } from "../kit/states"
import { m } from "../messages"
import { useMay } from "../session/session"
import { useUrl } from "../url"
import { CoverageCard } from "./coverage"
import { ModulesCard } from "./modules"
import css from "./page.module.css"
import { coverageByModule } from "./queries"
import { ActivityCard, GapsCard, ReviewCard, SuspectsCard } from "./waiting"

const VerdictsCard = lazy(async () => ({ default: (await import("../results/screens")).VerdictsCard }))
const WINDOWS = ["7", "30", "90"] as const
const URL_FIELDS = { days: v.optional(v.picklist(WINDOWS), "30") }

export default function DashboardPage() {
  const [{ days }, change] = useUrl(URL_FIELDS)
  const { data } = useQuery(coverageByModule)
  const isEmpty = data?.overall.total_requirements === 0 && data.overall.total_test_cases === 0
  const window = (
    <Select
      label={m.dashboard.days}
      hideLabel
      value={days}
      options={WINDOWS.map((value) => ({ value, label: m.dashboard.lastDays(Number(value)) }))}
      onChange={(value) => change({ days: value })}
    />
  )
  return (
    <Page title={m.dashboard.title} actions={isEmpty ? undefined : window}>
      {isEmpty ? (
        <FirstSteps />
      ) : (
        <div className={css.cards}>
          <CoverageCard days={Number(days)} />
          <ReviewCard />
          <SuspectsCard />
          <GapsCard />
          <ModulesCard />
          <Suspense fallback={<Skeleton />}>
            <VerdictsCard />
          </Suspense>
          <ActivityCard days={Number(days)} />
        </div>
      )}
    </Page>
  )
}

/** What to do in a project in which there is nothing yet. */
function FirstSteps() {
  const may = useMay("reviewer")
  const { steps } = m.dashboard
  return (
    <section className={css.steps}>
      <h2>{m.dashboard.begin}</h2>
      <ol>
        <li>
          <h3>{steps.add}</h3>
          <p>{steps.addHint}</p>
          {may && (
            <div>
              <ButtonLink look="primary" href="/imports">
                {m.exchange.importFile}
              </ButtonLink>{" "}
              <ButtonLink href="/requirements">{steps.addRequirement}</ButtonLink>{" "}
              <ButtonLink href="/test-cases">{steps.addTestCase}</ButtonLink>
            </div>
          )}
        </li>
        <li>
          <h3>{steps.generate}</h3>
          <p>{steps.generateHint}</p>
          <ButtonLink href="/review">{steps.generateNow}</ButtonLink>
        </li>
        <li>
          <h3>{steps.review}</h3>
          <p>{steps.reviewHint}</p>
          <ButtonLink href="/matrix">{steps.openMatrix}</ButtonLink>
        </li>
      </ol>
    </section>
  )
}
