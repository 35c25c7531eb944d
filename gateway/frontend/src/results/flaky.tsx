import { api } from "../api/client"
import { ItemLink, Rows } from "../items/rows"
import tab from "../items/tab.module.css"
import { Ago } from "../kit/ago"
import { useEndless } from "../kit/endless"
import { formatShare } from "../messages"
import { Outcomes } from "./pieces"
import css from "./results.module.css"
import { words } from "./words"

/** Test cases that pass and fail with the same code, the worst first. */
export function Flaky() {
  const list = useEndless(["results", "flaky"], (place, signal) =>
    api.get("/api/v1/reports/flaky-tests", { params: { query: { limit: 50, ...place } }, signal }),
  )
  return (
    <div className={tab.tab}>
      <Rows list={list} none={words.noFlaky}>
        {({ test_case, flips, failure_rate, outcomes, last_message, last_run_at, environment }) => (
          <>
            <div className={css.result}>
              <ItemLink path="/test-cases" item={test_case} />
              <p className={css.quiet}>{last_message}</p>
            </div>
            <div className={tab.about}>
              {environment}
              {flips > 0 && <span>{words.flips(flips, formatShare(failure_rate))}</span>}
              {outcomes.includes("k") && <span>{words.repeated(outcomes.split("k").length - 1, outcomes.length)}</span>}
              <Outcomes outcomes={outcomes} />
              <Ago iso={last_run_at} />
            </div>
          </>
        )}
      </Rows>
    </div>
  )
}
