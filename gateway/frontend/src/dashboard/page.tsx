import { useQuery } from "@tanstack/react-query"
import * as v from "valibot"
import { ButtonLink } from "../kit/button"
import { Page } from "../kit/page"
import { Select } from "../kit/select"
import { m } from "../messages"
import { useMay } from "../session/session"
import { useUrl } from "../url"
import { Activity } from "./activity"
import { ModuleMap } from "./module-map"
import { NeedsYou } from "./needs"
import { OverTime } from "./over-time"
import css from "./page.module.css"
import { verdictsByModule } from "./queries"
import { Risk } from "./risk"
import { Summary } from "./summary"
import { words } from "./words"

const WINDOWS = ["7", "30", "90"] as const
const URL_FIELDS = { days: v.optional(v.picklist(WINDOWS), "30") }

/** How the project stands, what to do about it, and how it came to that. */
export default function DashboardPage() {
  const [{ days }, change] = useUrl(URL_FIELDS)
  const { data } = useQuery(verdictsByModule)
  const isEmpty = data?.overall.total_requirements === 0
  const window = (
    <Select
      label={words.days}
      hideLabel
      value={days}
      options={WINDOWS.map((value) => ({ value, label: words.lastDays(Number(value)) }))}
      onChange={(value) => change({ days: value })}
    />
  )
  return (
    <Page title={words.title} actions={isEmpty ? undefined : window}>
      {isEmpty ? (
        <FirstSteps />
      ) : (
        <div className={css.parts}>
          <Summary days={Number(days)} />
          <div className={css.now}>
            <ModuleMap />
            <NeedsYou />
          </div>
          <OverTime days={Number(days)} />
          <div className={css.cards}>
            <Risk />
            <Activity days={Number(days)} />
          </div>
        </div>
      )}
    </Page>
  )
}

/** What to do in a project in which there is nothing yet. */
function FirstSteps() {
  const may = useMay("reviewer")
  const { steps } = words
  return (
    <section className={css.steps}>
      <h2>{steps.title}</h2>
      <ol>
        <li>
          <h3>{steps.add}</h3>
          <p>{steps.addHint}</p>
          {may && (
            <div>
              <ButtonLink look="primary" href="/imports">
                {m.common.importFile}
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
