import * as v from "valibot"
import { Link } from "wouter"
import { api } from "../api/client"
import { Rows } from "../items/rows"
import tab from "../items/tab.module.css"
import { Ago } from "../kit/ago"
import { Button } from "../kit/button"
import { useEndless } from "../kit/endless"
import { useUrl, writeAlternatives } from "../url"
import { Health, NoResults, placeOf, RunCounts } from "./pieces"
import css from "./results.module.css"
import { words } from "./words"

const URL_FIELDS = { branch: v.optional(v.string()) }

/** Runs of CI and of people, the newest first. */
export function Runs() {
  const [{ branch }, setUrl] = useUrl(URL_FIELDS)
  const list = useEndless(["results", "runs", branch], (place, signal) => {
    const query = { limit: 50, ...(branch && { branch: writeAlternatives([{ value: branch, not: false }]) }), ...place }
    return api.get("/api/v1/test-runs", { params: { query }, signal })
  })
  return (
    <div className={tab.tab}>
      {branch && (
        <p className={css.line}>
          {words.onlyBranch(branch)}
          <Button look="quiet" onPress={() => setUrl({ branch: undefined })}>
            {words.allBranches}
          </Button>
        </p>
      )}
      <Rows list={list} none={<NoResults />}>
        {(run) => (
          <div className={css.run}>
            <Link href={`/results/${run.id}`}>{run.name ?? run.key}</Link>
            <Link className={css.quiet} href={`/results?branch=${encodeURIComponent(run.branch)}`}>
              {placeOf(run)}
            </Link>
            <RunCounts counts={run.counts} />
            <span className={css.quiet}>
              {run.status === "running" && words.running}
              <Health run={run} />
            </span>
            <span className={css.when}>
              <Ago iso={run.started_at} />
            </span>
          </div>
        )}
      </Rows>
    </div>
  )
}
