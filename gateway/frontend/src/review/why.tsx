import type { ReactNode } from "react"
import { capitalised, formatScore, m } from "../messages"
import type { Texts } from "./queries"
import type { Pair } from "./queue"
import css from "./why.module.css"

/** What the API says about a score; every part can be away, as it was written by an older version. */
type Explanation = {
  components?: Record<string, { score: number; weight: number; contribution: number }>
  matched_terms?: { term: string; weight: number }[]
  other_terms?: number
  against?: { code: string; detail: string }[]
  reviews?: { adjustment: number; because: LikePair[] }
}
type LikePair = { requirement: string; test_case: string; status: string; similarity: number }

type Props = {
  pair: Pair
  texts: Texts | undefined
  only: string | undefined
  choose: (term: string | undefined) => void
}

/** Why two items were put together: the score and its parts, what speaks against, and what was said of like pairs. */
export function Why({ pair, texts, only, choose }: Props) {
  const said = (texts?.suggestion_metadata ?? {}) as Explanation
  return (
    <aside className={css.why} aria-label={m.review.why}>
      <Score pair={pair} />
      <Components parts={said.components ?? {}} score={pair.similarity_score} />
      <Against signs={said.against ?? []} />
      <Terms terms={said.matched_terms ?? []} others={said.other_terms ?? 0} only={only} choose={choose} />
      {texts?.spans_cut && <p className={css.quiet}>{m.review.spansCut}</p>}
      <LikePairs reviews={said.reviews} />
      {texts?.suggestion_reason && (
        <Part title={m.review.reason}>
          <p>{texts.suggestion_reason}</p>
        </Part>
      )}
    </aside>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={css.part}>
      <h3>{title}</h3>
      {children}
    </section>
  )
}

function Score({ pair }: { pair: Pair }) {
  const { similarity_score: score, band, suggestion_method: method } = pair
  return (
    <div className={css.score}>
      <p>
        <strong>{formatScore(score)}</strong> {band && <span>{m.common.bands[band]}</span>}
      </p>
      <div className={css.meter} style={{ "--share": score }} aria-hidden="true" />
      <p className={css.quiet}>{m.review.methods[method]}</p>
    </div>
  )
}

function Components({ parts, score }: { parts: NonNullable<Explanation["components"]>; score: number }) {
  const rows = Object.entries(parts)
  if (rows.length === 0) return null
  return (
    <Part title={m.review.components}>
      <table className={css.components}>
        <thead className="visually-hidden">
          <tr>
            <th scope="col">{m.review.component}</th>
            <th scope="col">{m.review.scoreTimesWeight}</th>
            <th scope="col">{m.review.contribution}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, part]) => (
            <tr key={name}>
              <th scope="row">{m.review.componentNames[name as keyof typeof m.review.componentNames] ?? name}</th>
              <td>
                {part.score.toFixed(3)} × {part.weight.toFixed(3)}
              </td>
              <td>{part.contribution.toFixed(3)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colSpan={2}>
              {m.review.score}
            </th>
            <td>{score.toFixed(3)}</td>
          </tr>
        </tfoot>
      </table>
    </Part>
  )
}

function Against({ signs }: { signs: NonNullable<Explanation["against"]> }) {
  if (signs.length === 0) return null
  return (
    <Part title={m.review.against}>
      <ul className={css.against}>
        {signs.map(({ detail }) => (
          <li key={detail}>{`${capitalised(detail)}.`}</li>
        ))}
      </ul>
    </Part>
  )
}

type TermsProps = {
  terms: { term: string; weight: number }[]
  others: number
  only: string | undefined
  choose: (term: string | undefined) => void
}

function Terms({ terms, others, only, choose }: TermsProps) {
  if (terms.length === 0) return null
  const heaviest = Math.max(...terms.map(({ weight }) => weight))
  return (
    <Part title={m.review.terms}>
      <ul className={css.terms}>
        {terms.map(({ term, weight }) => (
          <li key={term}>
            <button
              type="button"
              className={css.term}
              data-term={term}
              aria-pressed={only === term}
              onClick={() => choose(only === term ? undefined : term)}
            >
              <span>{term}</span>
              <span className={css.bar} style={{ "--share": weight / heaviest }} />
              <span className={css.weight}>{weight.toFixed(2)}</span>
            </button>
          </li>
        ))}
      </ul>
      {others > 0 && <p className={css.quiet}>{m.review.otherTerms(others)}</p>}
    </Part>
  )
}

function LikePairs({ reviews }: { reviews: Explanation["reviews"] }) {
  if (!reviews || reviews.because.length === 0) return null
  return (
    <Part title={m.review.likePairs}>
      <p>{reviews.adjustment >= 0 ? m.review.movedUp : m.review.movedDown}</p>
      <ul className={css.like}>
        {reviews.because.map((one) => (
          <li key={`${one.requirement} ${one.test_case}`}>
            <span>{m.review.pair(one.requirement, one.test_case)}</span>
            <span className={css.quiet}>{m.review.likePair(one.status, formatScore(one.similarity))}</span>
          </li>
        ))}
      </ul>
    </Part>
  )
}
