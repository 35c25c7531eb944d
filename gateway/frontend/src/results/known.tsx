import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import * as v from "valibot"
import { api } from "../api/client"
import type { components } from "../api/schema"
import { ItemLink, Rows } from "../items/rows"
import tab from "../items/tab.module.css"
import { Badge } from "../kit/badge"
import { Button } from "../kit/button"
import { Choice } from "../kit/choice"
import { useEndless } from "../kit/endless"
import { Field } from "../kit/field"
import { optionsOf } from "../kit/filter"
import { Ask, useFields } from "../kit/form"
import { tell, toast } from "../kit/toast"
import { formatDay } from "../messages"
import { useMay } from "../session/session"
import { useUrl } from "../url"
import { VerdictBadge } from "./pieces"
import css from "./results.module.css"
import { words as all } from "./words"

type Schemas = components["schemas"]
export type TestBehind = Schemas["TestBehind"]
type Test = { id: number; class_name: string; name: string; by_hand?: boolean }
const words = all.known
const URL_FIELDS = { show: v.optional(v.picklist(["ended"])) }
const LIMIT = 50
const DAYS = 30
const DAY = 24 * 3600 * 1000

/** How a test is called; `by_hand`: what people execute. */
const nameOf = ({ class_name, name, by_hand }: Test) =>
  by_hand ? words.byHand : [class_name, name].filter(Boolean).join(".")

function useChanged() {
  const queries = useQueryClient()
  return () => {
    for (const queryKey of [["results"], ["reports"]]) void queries.invalidateQueries({ queryKey })
  }
}

/** The tests of a test case that fail or are missing, and what a person may say of that. */
export function Wrong({ tests }: { tests: TestBehind[] }) {
  const may = useMay("reviewer")
  const changed = useChanged()
  const [asked, setAsked] = useState<{ what: "accept" | "retire"; test: TestBehind }>()
  const wrong = tests.filter((test) => test.missing || (test.last_result === "failed" && !test.not_run))
  if (wrong.length === 0) return null
  const close = () => setAsked(undefined)
  const end = (id: string) => void tell(endAcceptance(id), words.ended).then(changed)
  return (
    <>
      <ul className={tab.rows} aria-label={words.wrong}>
        {wrong.map((test) => {
          const { id, environment, lane, missing, accepted } = test
          return (
            <li key={[id, lane, environment].join()} className={tab.row}>
              <div className={css.result}>
                <VerdictBadge verdict={missing ? "not_run" : "failed"} /> {nameOf(test)}{" "}
                <span className={css.quiet}>{[lane, environment].filter(Boolean).join(" · ")}</span>
              </div>
              <div className={tab.about}>
                {accepted && <Badge state="pending">{words.until(formatDay(accepted.until))}</Badge>}
                {may && missing && (
                  <Button aria-label={words.retireOf(nameOf(test))} onPress={() => setAsked({ what: "retire", test })}>
                    {words.retire}
                  </Button>
                )}
                {may && !missing && !accepted && (
                  <Button aria-label={words.acceptOf(nameOf(test))} onPress={() => setAsked({ what: "accept", test })}>
                    {words.accept}
                  </Button>
                )}
                {may && accepted && (
                  <Button aria-label={words.endOf(nameOf(test))} onPress={() => end(accepted.id)}>
                    {words.end}
                  </Button>
                )}
              </div>
            </li>
          )
        })}
      </ul>
      {asked?.what === "accept" && <Accept of={{ automated_test_id: asked.test.id }} close={close} />}
      {asked?.what === "retire" && <Retire test={asked.test} close={close} />}
    </>
  )
}

const endAcceptance = (id: string) =>
  api.post("/api/v1/accepted-failures/{accepted_failure_id}/end", { params: { path: { accepted_failure_id: id } } })

type AcceptProps = { of: { automated_test_id: number } | { test_case_id: string }; close: () => void }

/** Ask why and until when a failure is accepted. */
export function Accept({ of: what, close }: AcceptProps) {
  const changed = useChanged()
  const { values, of } = useFields({
    reason: "",
    until: new Date(Date.now() + DAYS * DAY).toISOString().slice(0, 10),
    issue_url: "",
  })
  async function accept() {
    const { issue_url, ...rest } = values
    await api.post("/api/v1/accepted-failures", { body: { ...what, ...rest, issue_url: issue_url.trim() || null } })
    toast(words.done)
    close()
    changed()
  }
  return (
    <Ask title={words.ask} action={words.action} run={accept} close={close}>
      {(errors) => (
        <>
          <p>{words.hint}</p>
          <Field label={words.reason} lines={3} isRequired autoFocus {...of("reason", errors)} />
          <Field label={words.untilDay} type="date" isRequired {...of("until", errors)} />
          <Field label={words.issue} {...of("issue_url", errors)} />
        </>
      )}
    </Ask>
  )
}

/** Ask why a test that is missing is gone for good. */
export function Retire({ test, close }: { test: Test; close: () => void }) {
  const changed = useChanged()
  const { values, of } = useFields({ note: "" })
  async function retire() {
    const params = { path: { test_id: test.id } }
    await api.post("/api/v1/automated-tests/{test_id}/retire", { params, body: values })
    toast(words.retired)
    close()
    changed()
  }
  return (
    <Ask title={words.retireOf(nameOf(test))} action={words.retireAction} run={retire} close={close}>
      {(errors) => (
        <>
          <p>{words.retireHint}</p>
          <Field label={words.note} lines={3} isRequired autoFocus {...of("note", errors)} />
        </>
      )}
    </Ask>
  )
}

/** Failures that are accepted now, or were: why, until when and by whom. */
export function Known() {
  const [{ show }, setUrl] = useUrl(URL_FIELDS)
  const may = useMay("reviewer")
  const changed = useChanged()
  const list = useEndless(["results", "accepted", show], (place, signal) => {
    const query = { active: show === undefined, limit: LIMIT, ...place }
    return api.get("/api/v1/accepted-failures", { params: { query }, signal })
  })
  return (
    <div className={tab.tab}>
      <Choice
        label={words.which}
        value={show ?? ""}
        options={optionsOf(words.kinds)}
        onChange={(next) => setUrl({ show: next })}
      />
      <Rows list={list} none={show ? words.noEnded : words.none}>
        {({ id, automated_test, test_case, reason, issue_url, until, active, created_by, ...ended }) => {
          const name = automated_test ? nameOf(automated_test) : (test_case?.external_id ?? test_case?.title ?? "")
          return (
            <>
              <div className={css.result}>
                {test_case ? <ItemLink path="/test-cases" item={test_case} /> : name}
                <p className={css.quiet}>{reason}</p>
                {issue_url && (
                  <a href={issue_url} target="_blank" rel="noopener noreferrer">
                    {issue_url}
                  </a>
                )}
              </div>
              <div className={tab.about}>
                {created_by}
                {active ? (
                  <Badge state="pending">{words.until(formatDay(until))}</Badge>
                ) : (
                  ended.ended_because && <Badge state="none">{words.because[ended.ended_because]}</Badge>
                )}
                {may && active && (
                  <Button
                    aria-label={words.endOf(name)}
                    onPress={() => void tell(endAcceptance(id), words.ended).then(changed)}
                  >
                    {words.end}
                  </Button>
                )}
              </div>
            </>
          )
        }}
      </Rows>
    </div>
  )
}
