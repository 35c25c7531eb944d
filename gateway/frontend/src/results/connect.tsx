import { useQuery } from "@tanstack/react-query"
import * as v from "valibot"
import { Link } from "wouter"
import { api } from "../api/client"
import { Page } from "../kit/page"
import { Select } from "../kit/select"
import { Snippet } from "../kit/snippet"
import { NotYet } from "../kit/states"
import { projectKey } from "../projects/address"
import { useUrl } from "../url"
import { runnersQuery } from "./queries"
import css from "./results.module.css"
import { commandOf, exampleId, type Runner, withId } from "./runner"
import { SendReport } from "./send-report"
import { words as all } from "./words"

const words = all.connect
const URL_FIELDS = { runner: v.optional(v.string(), "pytest") }
const SOME = 50

/** How tests name their test cases, by their runner, and how their results come here. */
export function ConnectPage() {
  const [{ runner: name }, setUrl] = useUrl(URL_FIELDS)
  const read = useQuery(runnersQuery)
  const cases = useQuery({
    queryKey: ["test-cases", "for an example"],
    queryFn: ({ signal }) => api.get("/api/v1/test-cases", { params: { query: { limit: SOME } }, signal }),
  })
  const runners = read.data?.runners ?? []
  const runner = runners.find((one) => one.name === name) ?? runners[0]
  const id = exampleId(cases.data?.items.map(({ external_id }) => external_id) ?? [])
  const title = cases.data?.items.find(({ external_id }) => external_id === id)?.title
  return (
    <Page title={words.title} above={<Link href="/results">{all.title}</Link>}>
      <div className={css.connect}>
        <p>{words.hint}</p>
        {runner && cases.data ? (
          <>
            <Select
              label={words.runner}
              value={runner.name}
              options={runners.map(({ name: value, label }) => ({ value, label }))}
              onChange={(next) => setUrl({ runner: next }, { replace: true })}
            />
            <Steps runner={runner} id={id} title={title} />
          </>
        ) : (
          <NotYet query={read.data ? cases : read} />
        )}
        <h2>{words.tryIt}</h2>
        <SendReport />
      </div>
    </Page>
  )
}

type StepsProps = { runner: Runner; id: string; title: string | undefined }

/** What to paste where, from the name of a test to its results on this page. */
function Steps({ runner, id, title }: StepsProps) {
  const { by, place, lines, setup, run, also, label } = runner
  const address = `export TRACELINE_URL=${location.origin}`
  const token = `traceline token create ci --scope results --project ${projectKey()}`
  return (
    <ol className={css.steps}>
      <li>
        <h2>{words.name}</h2>
        <p>{words.by[by] ?? words.by.name}</p>
        <p className={css.quiet}>{title === undefined ? words.noTestCase(id) : words.testCase(id, title)}</p>
        <Snippet label={place} text={withId(lines, id).trim()} />
        {also && <p className={css.quiet}>{also}</p>}
      </li>
      <li>
        <h2>{words.report}</h2>
        {setup && <Snippet label={words.setup} text={setup.trim()} />}
        <Snippet label={words.run(label)} text={run} />
      </li>
      <li>
        <h2>{words.token}</h2>
        <p>
          {words.tokenHint} <Link href="/account">{words.account}</Link>
        </p>
        <Snippet label={words.shell} text={[words.install, address, words.login, token].join("\n")} />
      </li>
      <li>
        <h2>{words.send}</h2>
        <Snippet
          label={words.pipeline}
          text={[
            words.install,
            address,
            `export TRACELINE_TOKEN=${words.itsToken}`,
            commandOf(runner, projectKey()),
          ].join("\n")}
        />
      </li>
    </ol>
  )
}
