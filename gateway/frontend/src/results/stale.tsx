import { ItemLink, Rows } from "../items/rows"
import tab from "../items/tab.module.css"
import { Ago } from "../kit/ago"
import { useEndless } from "../kit/endless"
import { VerdictBadge } from "./pieces"
import css from "./results.module.css"
import { readTestCaseVerdicts } from "./verdict"
import { words } from "./words"

/** Test cases whose last pass says nothing any more, the oldest first, and why. */
export function Stale() {
  const list = useEndless(["results", "stale"], (place, signal) =>
    readTestCaseVerdicts({ verdict: "stale", limit: 50, ...place }, signal),
  )
  return (
    <div className={tab.tab}>
      <Rows list={list} none={words.noStale}>
        {({ reasons, last_pass_at, ...item }) => (
          <>
            <div className={css.result}>
              <ItemLink path="/test-cases" item={item} />
              <p className={css.quiet}>{reasons.map(({ message }) => message).join(" ")}</p>
            </div>
            <div className={tab.about}>
              <VerdictBadge verdict={item.verdict} />
              {last_pass_at && <Ago iso={last_pass_at} />}
            </div>
          </>
        )}
      </Rows>
    </div>
  )
}
