import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { api } from "../api/client"
import { type Item, type Kind, TEST_CASES } from "../items/kinds"
import { ItemLink, Rows } from "../items/rows"
import tab from "../items/tab.module.css"
import { Button } from "../kit/button"
import { Choice } from "../kit/choice"
import { useEndless } from "../kit/endless"
import { Field } from "../kit/field"
import { Ask, useFields } from "../kit/form"
import { toast } from "../kit/toast"
import { m } from "../messages"
import { useMay } from "../session/session"
import { Accept, Wrong } from "./known"
import { Counts, ExecutionLine, NoResults, Outcomes, VerdictBadge } from "./pieces"
import css from "./results.module.css"
import { words } from "./words"

const LIMIT = 20
const RECORDED = ["passed", "failed", "blocked", "skipped"] as const

/** What results say of an item now, why, and everything that was executed for it. */
export const ResultsTab = ({ kind, item }: { kind: Kind; item: Item }) =>
  kind === TEST_CASES ? <OfTestCase id={item.id} /> : <OfRequirement id={item.id} />

function OfRequirement({ id }: { id: string }) {
  const may = useMay("reviewer")
  const [asked, setAsked] = useState<string>()
  const list = useEndless(["results", "requirement", id], (place, signal) => {
    const params = { path: { requirement_id: id }, query: { limit: LIMIT, ...place } }
    return api.get("/api/v1/requirements/{requirement_id}/results", { params, signal })
  })
  const now = list.page
  return (
    <div className={tab.tab}>
      {now && (
        <>
          <p className={css.line}>
            <VerdictBadge verdict={now.verdict} />
            {words.ran(now.counts.tests_run, now.counts.tests_linked)}
            <Counts counts={now.counts} />
          </p>
          <ul className={tab.rows} aria-label={words.testCases}>
            {now.test_cases.map((one) => (
              <li key={one.id} className={tab.row}>
                <ItemLink path="/test-cases" item={one} />
                <div className={tab.about}>
                  {one.reasons.map(({ message }) => message).join(" ")}
                  {!one.counts && ` (${words.notCounted})`}
                  <VerdictBadge verdict={one.verdict} />
                  {may && one.verdict === "failed" && !one.reasons.some(({ code }) => code === "accepted") && (
                    <Button
                      aria-label={words.known.acceptOf(one.external_id ?? one.title)}
                      onPress={() => setAsked(one.id)}
                    >
                      {words.known.accept}
                    </Button>
                  )}
                </div>
              </li>
            ))}
          </ul>
          {asked && <Accept of={{ test_case_id: asked }} close={() => setAsked(undefined)} />}
          <h2>{words.executions}</h2>
        </>
      )}
      <Rows list={list} none={<NoResults />}>
        {(one) => <ExecutionLine one={one} />}
      </Rows>
    </div>
  )
}

function OfTestCase({ id }: { id: string }) {
  const mayRecord = useMay("reviewer")
  const [isRecording, setRecording] = useState(false)
  const list = useEndless(["results", "test_case", id], (place, signal) => {
    const params = { path: { test_case_id: id }, query: { limit: LIMIT, ...place } }
    return api.get("/api/v1/test-cases/{test_case_id}/results", { params, signal })
  })
  const now = list.page
  return (
    <div className={tab.tab}>
      {now && (
        <>
          <p className={css.line}>
            <VerdictBadge verdict={now.verdict} />
            {now.reasons.map(({ message }) => message).join(" ")}
          </p>
          <Wrong tests={now.tests} />
          {now.outcomes && (
            <p>
              {words.lastRuns(now.branch)} <Outcomes outcomes={now.outcomes} />
            </p>
          )}
        </>
      )}
      {mayRecord && (
        <div>
          <Button onPress={() => setRecording(true)}>{words.record.open}</Button>
        </div>
      )}
      <Rows list={list} none={<NoResults />}>
        {(one) => <ExecutionLine one={one} />}
      </Rows>
      {isRecording && <Record id={id} close={() => setRecording(false)} />}
    </div>
  )
}

/** A form for what somebody found who executed a test case. */
function Record({ id, close }: { id: string; close: () => void }) {
  const queries = useQueryClient()
  const { values, of } = useFields({
    status: "passed" as (typeof RECORDED)[number],
    notes: "",
    environment: "",
    commit: "",
  })
  async function record() {
    const { status, ...texts } = values
    const given = Object.fromEntries(Object.entries(texts).filter(([, text]) => text.trim()))
    const params = { path: { test_case_id: id } }
    await api.post("/api/v1/test-cases/{test_case_id}/results", { params, body: { status, ...given } })
    toast(words.record.done)
    close()
    for (const queryKey of [["results"], ["reports"]]) void queries.invalidateQueries({ queryKey })
  }
  return (
    <Ask title={words.record.open} action={m.common.save} run={record} close={close}>
      {(errors) => (
        <>
          <Choice
            label={words.record.title}
            options={RECORDED.map((value) => ({ value, label: words.states[value] }))}
            {...of("status")}
          />
          {(["notes", "environment", "commit"] as const).map((name) => (
            <Field
              key={name}
              label={words.record[name]}
              lines={name === "notes" ? 3 : undefined}
              {...of(name, errors)}
            />
          ))}
        </>
      )}
    </Ask>
  )
}
