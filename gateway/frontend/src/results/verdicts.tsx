import * as v from "valibot"
import { ItemLink, Rows } from "../items/rows"
import tab from "../items/tab.module.css"
import { Choice } from "../kit/choice"
import { useEndless } from "../kit/endless"
import { formatCount } from "../messages"
import { useUrl } from "../url"
import { ReportLinks, VerdictBadge } from "./pieces"
import css from "./results.module.css"
import { readVerification, VERDICTS } from "./verdict"
import { words } from "./words"

const ALL = ""
const URL_FIELDS = { verdict: v.optional(v.picklist(VERDICTS)) }

/** Requirements with their verdicts: all, or those that have one of them. */
export function Verdicts() {
  const [{ verdict }, setUrl] = useUrl(URL_FIELDS)
  const list = useEndless(["results", "verdicts", verdict], (place, signal) => {
    return readVerification({ limit: 50, ...(verdict && { verdict }), ...place }, signal)
  })
  const summary = list.page?.summary
  return (
    <div className={tab.tab}>
      {summary && <p>{words.verified(summary.verified_requirements, summary.total_requirements)}</p>}
      <Choice
        label={words.verdict}
        value={verdict ?? ALL}
        options={[
          { value: ALL, label: words.everything },
          ...VERDICTS.map((value) => ({
            value,
            label: [words.states[value], summary && formatCount(summary.requirements[value])].join(" "),
          })),
        ]}
        onChange={(next) => setUrl({ verdict: next })}
      />
      <ReportLinks />
      <Rows list={list} none={words.noVerdict}>
        {(one) => (
          <>
            <ItemLink path="/requirements" item={one} />
            <div className={tab.about}>
              <span className={css.quiet}>{words.ran(one.counts.tests_run, one.counts.tests_linked)}</span>
              <VerdictBadge verdict={one.verdict} />
            </div>
          </>
        )}
      </Rows>
    </div>
  )
}
