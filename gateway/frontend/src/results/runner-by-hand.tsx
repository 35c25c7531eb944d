import { useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "react"
import { Link } from "wouter"
import { api } from "../api/client"
import { stepsOf, textOf } from "../items/fields"
import type { Item } from "../items/kinds"
import { SHAPES } from "../kit/badge"
import { Button, ButtonLink } from "../kit/button"
import { Field } from "../kit/field"
import { useTitle } from "../kit/page"
import { useShortcuts } from "../kit/shortcuts"
import { complain, toast } from "../kit/toast"
import { formatCount, m } from "../messages"
import { projectKey } from "../projects/address"
import { kept } from "../store"
import { MARKS, type Mark, marked, moved, newRun, nextOpen, notesOf, type Run, resultOf } from "./by-hand"
import { said } from "./by-hand-words"
import { VerdictBadge } from "./pieces"
import css from "./session.module.css"
import { STATES } from "./verdict"
import { words } from "./words"

const KEYS: Record<Mark, string> = { passed: "p", failed: "f", blocked: "b", skipped: "s" }
type Kept = { name: string; at: number; runs: Record<string, Run> }
type Props = {
  cases: Item[]
  /** Of the session: what was begun under it goes on after the page was loaded anew. */
  name: string
  /** What stands with each result. */
  given: { environment?: string; commit?: string }
  leave: () => void
}

/** Keep in this tab how far a session has come. */
function useKept(name: string) {
  const [place] = useState(() => `traceline.by-hand.${projectKey()}`)
  const [state, setState] = useState<Kept>(() => {
    const before = kept<Kept | undefined>(place, undefined, sessionStorage)
    return before?.name === name ? before : { name, at: 0, runs: {} }
  })
  useEffect(() => {
    sessionStorage.setItem(place, JSON.stringify(state))
  }, [place, state])
  return [state, setState] as const
}

/** Runs test cases one after the other: a key a step, and one for the next test case. */
export function Runner({ cases, name, given, leave }: Props) {
  const [state, setState] = useKept(name)
  const [isFinished, setFinished] = useState(false)
  useTitle(said.title)
  const ids = cases.map(({ id }) => id)
  const at = Math.min(state.at, cases.length - 1)
  const go = (next: number) => setState((before) => ({ ...before, at: next }))
  const item = cases[at]
  if (isFinished || !item)
    return (
      <Summary
        cases={cases}
        runs={state.runs}
        resume={() => {
          go(nextOpen(ids, state.runs, at - 1) ?? at)
          setFinished(false)
        }}
        again={(those) => {
          const left = Object.entries(state.runs).filter(([id]) => !those.includes(id))
          setState((before) => ({ ...before, at: ids.indexOf(those[0] ?? ""), runs: Object.fromEntries(left) }))
          setFinished(false)
        }}
        leave={leave}
      />
    )
  const run = state.runs[item.id] ?? newRun(stepsOf(item.steps ?? null).length)
  return (
    <div className={css.page}>
      <header className={css.header}>
        <h1>{said.title}</h1>
        <Progress cases={cases} runs={state.runs} />
        <Button look="quiet" onPress={() => setFinished(true)}>
          {said.finish}
        </Button>
      </header>
      <div className={css.columns}>
        <ol className={css.list} aria-label={said.list}>
          {cases.map((one, place) => (
            <li key={one.id}>
              <button
                type="button"
                className={css.row}
                aria-current={place === at ? "true" : undefined}
                onClick={() => go(place)}
              >
                <Sign mark={state.runs[one.id]?.recorded} />
                <span>
                  <span className={css.id}>{one.external_id}</span> {one.title}
                </span>
              </button>
            </li>
          ))}
        </ol>
        <Case
          key={item.id}
          item={item}
          place={said.of(formatCount(at + 1), formatCount(cases.length))}
          run={run}
          given={given}
          change={(next) => setState((before) => ({ ...before, runs: { ...before.runs, [item.id]: next } }))}
          done={(next) => {
            const runs = { ...state.runs, [item.id]: next }
            const open = nextOpen(ids, runs, at)
            setState((before) => ({ ...before, runs, at: open ?? at }))
            if (open === undefined) setFinished(true)
          }}
          go={(by) => go(Math.max(0, Math.min(at + by, cases.length - 1)))}
        />
      </div>
    </div>
  )
}

/** The sign of a mark, read as a word. */
function Sign({ mark }: { mark: Mark | undefined }) {
  return (
    <span className={css.sign} data-state={mark ? STATES[mark] : "none"}>
      <span aria-hidden="true">{mark ? SHAPES[STATES[mark]] : "·"}</span>
      <span className="visually-hidden">{mark ? words.states[mark] : said.notMarked}</span>
    </span>
  )
}

function Progress({ cases, runs }: { cases: Item[]; runs: Record<string, Run> }) {
  const done = cases.filter(({ id }) => runs[id]?.recorded).length
  return (
    <div className={css.progress}>
      <span>{said.progress(done, cases.length)}</span>
      <progress max={cases.length} value={done} aria-label={said.progress(done, cases.length)} />
    </div>
  )
}

type CaseProps = {
  item: Item
  /** Which it is, of how many. */
  place: string
  run: Run
  given: Props["given"]
  change: (run: Run) => void
  done: (run: Run) => void
  go: (by: number) => void
}

function Case({ item, place, run, given, change, done, go }: CaseProps) {
  const queries = useQueryClient()
  const [isNoting, setNoting] = useState(false)
  const [isSending, setSending] = useState(false)
  const [hint, setHint] = useState<string>()
  const sent = useRef<{ body: string; key: string }>(undefined)
  const steps = stepsOf(item.steps ?? null)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus({ preventScroll: false }), [])
  function mark(one: Mark) {
    setHint(undefined)
    change(marked(run, one))
  }
  async function record() {
    const status = resultOf(run)
    if (isSending) return
    if (!status) {
      setHint(said.unmarked(run.marks.filter((one) => !one).length))
      return
    }
    const notes = notesOf(run, steps, (step, how, text) => said.stepSays(step, said.step[how], text))
    const body = { status, ...(notes && { notes }), ...given }
    // Sent once more after an answer that has not come, it is the same result.
    const written = JSON.stringify(body)
    if (sent.current?.body !== written) sent.current = { body: written, key: crypto.randomUUID() }
    setSending(true)
    try {
      const params = { path: { test_case_id: item.id }, header: { "Idempotency-Key": sent.current.key } }
      await api.post("/api/v1/test-cases/{test_case_id}/results", { params, body })
    } catch (error) {
      complain(error)
      return
    } finally {
      setSending(false)
    }
    sent.current = undefined
    toast(said.recorded(item.external_id ?? item.title, words.states[status]))
    for (const queryKey of [["results"], ["reports"]]) void queries.invalidateQueries({ queryKey })
    done({ ...run, recorded: status })
  }
  useShortcuts([
    ...MARKS.map((one) => ({ keys: KEYS[one], label: said.marks[one], run: () => mark(one) })),
    { keys: "n", label: said.note, run: () => setNoting(true) },
    { keys: "Enter", label: said.next, run: () => void record() },
    { keys: "ArrowUp", label: said.up, repeats: true, run: () => change(moved(run, -1)) },
    { keys: "ArrowDown", label: said.down, repeats: true, run: () => change(moved(run, 1)) },
    { keys: "j", label: said.without, run: () => go(1) },
    { keys: "k", label: said.back, run: () => go(-1) },
  ])
  return (
    <section className={css.case} aria-label={item.title}>
      <div className={css.text}>
        <p className={css.quiet}>
          {place}
          {" · "}
          <Link href={`/test-cases/${item.id}`}>{item.external_id ?? m.items.testCase.one}</Link>
          {item.module && ` · ${item.module}`}
        </p>
        <h2 ref={heading} tabIndex={-1}>
          {item.title}
        </h2>
        <Part title={m.items.fields.description} text={item.description} />
        <Part title={m.items.fields.preconditions} text={item.preconditions} />
        <Part title={m.items.fields.test_data} text={textOf("test_data", item.test_data)} />
        <Steps steps={steps} run={run} choose={(step) => change({ ...run, step })} />
        <Part title={m.items.fields.postconditions} text={item.postconditions} />
      </div>
      <div className={css.actions}>
        {isNoting && (
          <NoteField note={run.note} change={(note) => change({ ...run, note })} close={() => setNoting(false)} />
        )}
        {!isNoting && run.note && <p className={css.note}>{run.note}</p>}
        <p className={css.hint} role="status">
          {hint}
        </p>
        <div className={css.buttons}>
          {MARKS.map((one) => (
            <Button key={one} keys={KEYS[one]} onPress={() => mark(one)}>
              {said.marks[one]}
            </Button>
          ))}
          <Button look="quiet" keys="n" onPress={() => setNoting(true)}>
            {said.note}
          </Button>
          <Button look="quiet" keys="j" onPress={() => go(1)}>
            {said.without}
          </Button>
          <Button look="primary" keys="Enter" isDisabled={isSending} onPress={() => void record()}>
            {said.next}
          </Button>
        </div>
      </div>
    </section>
  )
}

function Part({ title, text }: { title: string; text: string | null | undefined }) {
  if (!text) return null
  return (
    <div className={css.part}>
      <h3>{title}</h3>
      <p className={css.prose}>{text}</p>
    </div>
  )
}

/** The steps with their marks; the one that is marked next stands out. */
function Steps({ steps, run, choose }: { steps: string[]; run: Run; choose: (step: number) => void }) {
  const current = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (run.step > 0) current.current?.scrollIntoView({ block: "nearest" })
  }, [run.step])
  return (
    <div className={css.part}>
      <h3>{said.steps}</h3>
      <ol className={css.steps}>
        {(steps.length > 0 ? steps : [said.whole]).map((text, place) => (
          <li key={place} ref={place === run.step ? current : null}>
            <button
              type="button"
              className={css.step}
              aria-current={place === run.step ? "step" : undefined}
              onClick={() => choose(place)}
            >
              <span className={css.number}>{steps.length > 0 && formatCount(place + 1)}</span>
              <span className={css.prose}>{text}</span>
              {run.marks[place] ? <VerdictBadge verdict={run.marks[place]} /> : <span className={css.quiet}>–</span>}
            </button>
          </li>
        ))}
      </ol>
    </div>
  )
}

function NoteField({ note, change, close }: { note: string; change: (note: string) => void; close: () => void }) {
  return (
    <Field
      label={said.noteLabel}
      hint={said.noteHint}
      lines={2}
      autoFocus
      maxLength={2000}
      value={note}
      onChange={change}
      onBlur={close}
      onKeyDown={(event) => {
        if (event.key !== "Escape" && !(event.key === "Enter" && !event.shiftKey)) return
        if (event.nativeEvent.isComposing) return
        event.preventDefault()
        close()
      }}
    />
  )
}

type SummaryProps = {
  cases: Item[]
  runs: Record<string, Run>
  resume: () => void
  again: (ids: string[]) => void
  leave: () => void
}

/** What a session has come to. */
function Summary({ cases, runs, resume, again, leave }: SummaryProps) {
  const of = (mark: Mark) => cases.filter(({ id }) => runs[id]?.recorded === mark)
  const open = cases.filter(({ id }) => !runs[id]?.recorded).length
  const wrong = [...of("failed"), ...of("blocked")]
  return (
    <div className={css.summary}>
      <h1>{said.done}</h1>
      <p className={css.counts}>
        {MARKS.map((mark) => {
          const count = of(mark).length
          return count > 0 && <VerdictBadge key={mark} verdict={mark} count={count} />
        })}
        {open > 0 && <span className={css.quiet}>{said.left(open)}</span>}
      </p>
      <ul className={css.found}>
        {wrong.map((item) => (
          <li key={item.id}>
            <VerdictBadge verdict={runs[item.id]?.recorded ?? "failed"} />{" "}
            <Link href={`/test-cases/${item.id}`}>
              {item.external_id} {item.title}
            </Link>
          </li>
        ))}
      </ul>
      <div className={css.buttons}>
        {open > 0 && (
          <Button look="primary" onPress={resume}>
            {said.resume}
          </Button>
        )}
        {wrong.length > 0 && <Button onPress={() => again(wrong.map(({ id }) => id))}>{said.again}</Button>}
        <Button onPress={leave}>{said.others}</Button>
        <ButtonLink href="/results">{said.results}</ButtonLink>
      </div>
    </div>
  )
}
