import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useRef, useState } from "react"
import { Link } from "wouter"
import { api } from "../api/client"
import { ApiProblem } from "../api/problem"
import type { components } from "../api/schema"
import { sentenceOf } from "../api/sentence"
import { Button } from "../kit/button"
import { useDropped } from "../kit/dropped"
import { Refusal } from "../kit/form"
import { useMay } from "../session/session"
import { Counts } from "./pieces"
import { runnersQuery } from "./queries"
import css from "./results.module.css"
import { type Runner, runnerOf } from "./runner"
import { words as all } from "./words"

type Schemas = components["schemas"]
type Uploaded = Schemas["UploadedResults"]
const words = all.send
const EACH_MS = 1000
const LOOKED_AT_BYTES = 64 * 1024
/** Results that are read to name some that have no test case. */
const LOOKED_AT = 100
const SHOWN = 3
const MOST_BYTES = 64 * 1024 * 1024
/** What is said by its count. */
const COUNTED = "unknown_test"

/** Send the reports of tests to a run of their own, and wait until they are stored. */
async function sendReports(files: File[]): Promise<Uploaded> {
  const form = new FormData()
  for (const file of files) form.append("file", file)
  const name = files
    .map((file) => file.name)
    .join(", ")
    .slice(0, 200)
  const answer = await api.post("/api/v1/test-results", { params: { query: { name } }, body: form as never })
  if (!("upload_id" in answer)) return waitFor(answer.id)
  return answer
}

async function waitFor(upload_id: string): Promise<Uploaded> {
  for (;;) {
    const { results, error } = await api.get("/api/v1/test-results/{upload_id}", { params: { path: { upload_id } } })
    if (results) return results
    if (error) throw new ApiProblem(Number(error.status ?? 422), error)
    await new Promise((resolve) => setTimeout(resolve, EACH_MS))
  }
}

/** Where a report is dropped or chosen, and what became of it: for those who may send results. */
export function SendReport() {
  return useMay("reviewer") ? <Sending /> : null
}

function Sending() {
  const input = useRef<HTMLInputElement>(null)
  const client = useQueryClient()
  const [isOver, setOver] = useState(false)
  const [isSending, setSending] = useState(false)
  const [refusal, setRefusal] = useState<string>()
  const [sent, setSent] = useState<{ results: Uploaded; text: string }>()
  async function send(files: File[]) {
    if (files.length === 0 || isSending) return
    setRefusal(undefined)
    setSent(undefined)
    if (files.reduce((sum, { size }) => sum + size, 0) > MOST_BYTES) {
      setRefusal(words.tooLarge)
      return
    }
    setSending(true)
    try {
      const text = (await files[0]?.slice(0, LOOKED_AT_BYTES).text()) ?? ""
      setSent({ results: await sendReports(files), text })
      for (const queryKey of [["results"], ["reports"]]) void client.invalidateQueries({ queryKey })
    } catch (error) {
      setRefusal(sentenceOf(error))
    }
    setSending(false)
  }
  useDropped((files) => void send(files), setOver)
  return (
    <section className={css.send} aria-label={words.title} data-over={isOver || undefined} aria-busy={isSending}>
      <p className={css.line}>
        {words.drop}
        <Button isDisabled={isSending} onPress={() => input.current?.click()}>
          {words.choose}
        </Button>
        {isSending && <span role="status">{words.sending}</span>}
      </p>
      {refusal && <Refusal>{refusal}</Refusal>}
      {sent && <Outcome results={sent.results} text={sent.text} />}
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={words.title}
        onChange={({ target }) => {
          void send([...(target.files ?? [])])
          // So that the same file can be chosen again once it is mended.
          target.value = ""
        }}
      />
    </section>
  )
}

/** What became of a report: how many ran, how many of them count for a test case, and what to do about the others. */
function Outcome({ results, text }: { results: Uploaded; text: string }) {
  const { run, counts, tests, matched, duplicate, warnings } = results
  const told = [...new Set(warnings.filter(({ code }) => code !== COUNTED).map(({ message }) => message))]
  const without = tests - matched
  return (
    <div className={css.outcome} role="status">
      <p className={css.line}>
        <Link href={`/results/${run.id}`}>{run.name ?? run.key}</Link>
        {words.counts(counts.results, tests)}
        <Counts counts={counts} />
      </p>
      {duplicate && <p>{words.duplicate}</p>}
      {tests > 0 && <p>{words.matched(matched, tests)}</p>}
      {without > 0 && (
        <p className={css.line}>
          <Link href="/results?tab=tests">{words.unmatched(without)}</Link>
          <ConnectLink text={text} />
        </p>
      )}
      {without > 0 && <Unmatched run={run.id} />}
      {told.length > 0 && (
        <ul>
          {told.map((message) => (
            <li key={message}>▲ {message}</li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** Some tests of a run that count for no test case, by name. */
function Unmatched({ run: run_id }: { run: string }) {
  const { data } = useQuery({
    queryKey: ["results", "unmatched", run_id],
    queryFn: ({ signal }) => {
      const params = { path: { run_id }, query: { limit: LOOKED_AT } }
      return api.get("/api/v1/test-runs/{run_id}/results", { params, signal })
    },
  })
  const names =
    data?.items.filter(({ test_cases }) => test_cases.length === 0).map(({ test }) => String(test.name)) ?? []
  return names.length > 0 && <p className={css.quiet}>{words.among(names.slice(0, SHOWN).join(", "))}</p>
}

/** The way to how tests name their test cases, by the runner of a report where that is known. */
export function ConnectLink({ text }: { text?: string }) {
  const { data } = useQuery({ ...runnersQuery, enabled: Boolean(text) })
  const runner: Runner | undefined = data && text ? runnerOf(data.runners, text) : undefined
  return <Link href={runner ? `/results/connect?runner=${runner.name}` : "/results/connect"}>{words.connect}</Link>
}
