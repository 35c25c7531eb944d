import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import * as v from "valibot"
import { api } from "../api/client"
import type { components } from "../api/schema"
import { FindItem } from "../items/find-item"
import { TEST_CASES } from "../items/kinds"
import { Rows } from "../items/rows"
import tab from "../items/tab.module.css"
import { Ago } from "../kit/ago"
import { Button } from "../kit/button"
import { Choice } from "../kit/choice"
import { useEndless } from "../kit/endless"
import { optionsOf } from "../kit/filter"
import { tell } from "../kit/toast"
import { useMay } from "../session/session"
import { useUrl } from "../url"
import { Retire } from "./known"
import css from "./results.module.css"
import { ConnectLink } from "./send-report"
import { words as all } from "./words"

type Test = components["schemas"]["AutomatedTest"]
const words = all.tests
const LIMIT = 50
const WHICH = { "": { linked: false }, renamed: { suspected_rename: true }, missing: { missing: true } }
const NONE = { "": words.none, renamed: words.noRenamed, missing: words.noMissing }
const URL_FIELDS = { show: v.optional(v.picklist(["renamed", "missing"])) }

/** Tests that CI runs and nobody traces, those that seem to be others under a new name, and missing ones. */
export function Tests() {
  const [{ show }, setUrl] = useUrl(URL_FIELDS)
  const queries = useQueryClient()
  const mayWrite = useMay("reviewer")
  const [asked, setAsked] = useState<number>()
  const [retired, setRetired] = useState<Test>()
  const list = useEndless(["results", "tests", show], (place, signal) => {
    const which = WHICH[show ?? ""]
    return api.get("/api/v1/automated-tests", { params: { query: { ...which, limit: LIMIT, ...place } }, signal })
  })
  const ids = list.rows?.flatMap(({ suspected_rename: id }) => (id === null ? [] : [id])).join()
  const before = useQuery({
    queryKey: ["results", "tests", "before", ids],
    queryFn: ({ signal }) => api.get("/api/v1/automated-tests", { params: { query: { ids, limit: 500 } }, signal }),
    enabled: Boolean(ids),
  })
  async function run(work: Promise<unknown>, said: string) {
    setAsked(undefined)
    await tell(work, said)
    for (const queryKey of [["results"], ["reports"]]) void queries.invalidateQueries({ queryKey })
  }
  const assign = ({ id }: Test, testCase: string) => {
    const params = { path: { test_id: id } }
    void run(api.patch("/api/v1/automated-tests/{test_id}", { params, body: { test_case_id: testCase } }), words.chosen)
  }
  const merge = (old: Test, { id }: Test) => {
    const params = { path: { test_id: old.id } }
    void run(api.post("/api/v1/automated-tests/{test_id}/merge", { params, body: { into: id } }), words.merged)
  }
  return (
    <div className={tab.tab}>
      <div className={css.line}>
        <Choice
          label={words.which}
          value={show ?? ""}
          options={optionsOf(words.kinds)}
          onChange={(next) => setUrl({ show: next })}
        />
        {!show && (list.rows?.length ?? 0) > 0 && <ConnectLink />}
      </div>
      <Rows list={list} none={NONE[show ?? ""]}>
        {(test) => {
          const old = before.data?.items.find(({ id }) => id === test.suspected_rename)
          return (
            <>
              <div className={css.result}>
                <span className={css.quiet}>{test.class_name || test.suite || test.file}</span> {test.name}
                {show && old && (
                  <p>
                    {words.before} {old.name}
                  </p>
                )}
                {test.missing?.map(({ branch, environment, lane, missed_runs }) => (
                  <p key={[branch, environment, lane].join()} className={css.quiet}>
                    {words.missing([lane, environment].filter(Boolean).join(" · "), branch, words.runs(missed_runs))}
                  </p>
                ))}
              </div>
              <div className={tab.about}>
                <Ago iso={test.last_seen} />
                {mayWrite && show && old && (
                  <Button aria-label={words.mergeOf(old.name, test.name)} onPress={() => merge(old, test)}>
                    {words.merge}
                  </Button>
                )}
                {mayWrite && show === "missing" && (
                  <Button aria-label={all.known.retireOf(test.name)} onPress={() => setRetired(test)}>
                    {all.known.retire}
                  </Button>
                )}
                {mayWrite && !show && asked !== test.id && (
                  <Button aria-label={words.chooseFor(test.name)} onPress={() => setAsked(test.id)}>
                    {words.choose}
                  </Button>
                )}
              </div>
              {asked === test.id && (
                <div className={css.whole}>
                  <FindItem
                    kind={TEST_CASES}
                    label={words.chooseFor(test.name)}
                    choose={({ id }) => assign(test, id)}
                    close={() => setAsked(undefined)}
                  />
                </div>
              )}
            </>
          )
        }}
      </Rows>
      {retired && <Retire test={retired} close={() => setRetired(undefined)} />}
    </div>
  )
}
