import { Link } from "wouter"
import { nameOfField } from "../items/fields"
import { formatCount } from "../messages"
import type { Action, Import } from "./api"
import css from "./exchange.module.css"
import { plainly } from "./names"
import { words as exchange } from "./words"

const words = exchange.job
const ACTIONS = Object.keys(exchange.actions) as Action[]
const MOST_SHEETS = 20
type Sheet = NonNullable<NonNullable<Import["summary"]>["sheets"]>[number]
const REFUSED: Action[] = ["conflict", "error"]
const ROW_KINDS = { requirements: "requirement", test_cases: "test_case", links: "link" } as const
const KINDS = Object.keys(ROW_KINDS) as (keyof typeof ROW_KINDS)[]

/** Return how many rows of all kinds have one of these actions. */
export function countOf({ counts }: Pick<Import, "counts">, ...of: Action[]): number {
  return KINDS.flatMap((kind) => of.map((action) => counts?.[kind][action] ?? 0)).reduce((sum, one) => sum + one, 0)
}

export const changed = (job: Import): number => countOf(job, "create", "update", "delete")
export const waiting = (job: Import): number => countOf(job, "wait")
export const refused = (job: Import): number => countOf(job, ...REFUSED)

const ENDED_WITHOUT = new Set(["cancelled", "failed", "expired"])

/** Return what an import changes, in a few words; nothing for one that has ended and is not in the record. */
export function changesOf(job: Import): string {
  if (ENDED_WITHOUT.has(job.status) && job.applied_at === null) return ""
  const said = ACTIONS.filter((action) => action !== "unchanged" && countOf(job, action) > 0)
  return said.map((action) => `${exchange.actions[action]} ${formatCount(countOf(job, action))}`).join(" · ")
}

/** What comes of each sheet of a workbook, in a sentence each. */
export function BySheet({ job: { summary } }: { job: Import }) {
  const sheets = summary?.sheets ?? []
  if (sheets.length < 2) return null
  return (
    <ul className={css.remarks}>
      {sheets.slice(0, MOST_SHEETS).map((sheet) => (
        <li key={sheet.sheet}>{exchange.comingOf(sheet.sheet, whatOf(sheet))}</li>
      ))}
      {sheets.length > MOST_SHEETS && <li className={css.quiet}>{exchange.more(sheets.length - MOST_SHEETS)}</li>}
    </ul>
  )
}

/** Return what a sheet has, such as "300 requirements, 2 refused": each kind with what becomes of its rows. */
function whatOf(sheet: Sheet): string {
  const taken = KINDS.flatMap((kind) => {
    const { create, update, unchanged, wait = 0 } = sheet[kind]
    const count = create + update + unchanged + wait
    return count > 0 ? [words.bySheet[kind]?.(count)] : []
  })
  const waits = KINDS.reduce((sum, kind) => sum + (sheet[kind].wait ?? 0), 0)
  const others = (["conflict", "error", "skip"] as const).flatMap((action) => {
    const count = KINDS.reduce((sum, kind) => sum + sheet[kind][action], 0)
    return count > 0 ? [`${formatCount(count)} ${exchange.actions[action].toLowerCase()}`] : []
  })
  return [...taken, waits > 0 && words.wait(waits), ...others].filter(Boolean).join(", ") || words.nothingOf
}

/** How many of each kind have each action; a number leads to its rows. */
export function Counts({ job }: { job: Import }) {
  const { counts } = job
  if (!counts) return null
  const shown = ACTIONS.filter(
    (action) => ["create", "update", "unchanged"].includes(action) || countOf(job, action) > 0,
  )
  return (
    <div className={`${css.across} ${css.counts}`}>
      <table className={css.table}>
        <thead>
          <tr>
            <th scope="col">{words.kind}</th>
            {shown.map((action) => (
              <th key={action} scope="col" className={css.number}>
                {exchange.actions[action]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {KINDS.map((kind) => (
            <tr key={kind}>
              <th scope="row">{exchange.kinds[kind]}</th>
              {shown.map((action) => (
                <td key={action} className={css.number} data-state={REFUSED.includes(action) ? "failed" : undefined}>
                  {!counts[kind][action] ? (
                    <span className={css.quiet}>{formatCount(0)}</span>
                  ) : (
                    <Link href={`/imports/${job.id}/rows?kind=${ROW_KINDS[kind]}&action=${action}`}>
                      {formatCount(counts[kind][action])}
                    </Link>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** What a person has to know of a plan beside its counts. */
export function Summary({ job: { id, summary, options } }: { job: Import }) {
  if (!summary) return null
  const { problems, warnings, defaulted, makes_suspect, to_score } = summary
  const lists = [
    { title: words.problems, remarks: problems, sign: "✕", isFailure: true },
    { title: words.notTaken, remarks: warnings.filter(({ unclean }) => unclean), sign: "▲", isFailure: false },
    { title: words.warnings, remarks: warnings.filter(({ unclean }) => !unclean), sign: "▲", isFailure: false },
  ]
  return (
    <>
      {lists.map(
        ({ title, remarks, sign, isFailure }) =>
          remarks.length > 0 && (
            <section key={title} className={css.part} aria-label={title}>
              <h3>{title}</h3>
              <ul className={css.remarks} data-failed={isFailure || undefined}>
                {remarks.map(({ code, count, row, message }) => (
                  <li key={code}>
                    <span aria-hidden="true">{sign}</span> {plainly(message)}{" "}
                    <span className={css.quiet}>
                      {[
                        count > 1 && !message.includes(formatCount(count)) && words.times(count),
                        row !== null && words.firstRow(row),
                      ]
                        .filter(Boolean)
                        .join(", ")}
                    </span>{" "}
                    {isFailure && <Link href={`/imports/${id}/rows?code=${code}`}>{exchange.rows.title}</Link>}
                  </li>
                ))}
              </ul>
            </section>
          ),
      )}
      <ul className={css.remarks}>
        {!!to_score && options.suggest !== false && <li>{words.toScore(to_score)}</li>}
        {makes_suspect > 0 && <li>▲ {words.suspect(makes_suspect)}</li>}
        {Object.entries(defaulted).map(([field, count]) => (
          <li key={field}>{words.defaulted(nameOfField(field), count)}</li>
        ))}
      </ul>
    </>
  )
}
