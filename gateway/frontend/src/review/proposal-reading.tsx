import { useQuery } from "@tanstack/react-query"
import type { components } from "../api/schema"
import { Diff } from "../kit/diff"
import { FactList } from "../kit/facts"
import { formatAgo, formatScore, m, people } from "../messages"
import { words } from "./proposal-words"
import own from "./proposals.module.css"
import { type Texts, textsOf } from "./queries"
import type { Pair } from "./queue"
import css from "./reading.module.css"
import { BothTexts } from "./texts"
import { type Proposal, titleOf } from "./use-proposals"
import why from "./why.module.css"

type Evidence = components["schemas"]["Evidence"]
const A_LINK = /^https:\/\//i

/** One proposal as it is read: why, by what, and what there is now; our score beside what the agent says. */
export function ProposalReading({ proposal, others }: { proposal: Proposal; others: readonly Proposal[] }) {
  const { agent, client, rationale, evidence, confidence, engine_score: score } = proposal
  return (
    <div className={css.reading}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
      <div className={css.pair} tabIndex={0}>
        <section className={own.said} aria-label={words.rationale}>
          <h2>{`${words.kinds[proposal.kind]}: ${titleOf(proposal)}`}</h2>
          <p className={own.rationale}>{rationale}</p>
          {others.map((one) => (
            <div key={one.id}>
              <h3>{words.alsoBy(one.agent.name)}</h3>
              <p className={own.rationale}>{one.rationale}</p>
            </div>
          ))}
        </section>
        <What proposal={proposal} />
      </div>
      <aside className={`${css.edge} ${why.why}`} aria-label={m.review.why}>
        <FactList
          facts={[
            [words.proposedBy, agent.name],
            [words.owner, people(agent.owner)],
            [words.program, client && [client.name, client.version].filter(Boolean).join(" ")],
            [words.proposedAt, formatAgo(proposal.created_at)],
            [words.ourScore, score === null ? words.noScore : formatScore(score)],
            [words.confidence, confidence !== null && formatScore(confidence)],
          ]}
        />
        {evidence.length > 0 && (
          <section className={why.part}>
            <h3>{words.evidence}</h3>
            <ul className={own.evidence}>
              {evidence.map((one) => (
                <li key={JSON.stringify(one)}>
                  <Shown evidence={one} />
                </li>
              ))}
            </ul>
          </section>
        )}
      </aside>
    </div>
  )
}

/** Where something stands: an address of the web is a link, nothing else is. */
function Shown({ evidence: { type, ref, lines, quote } }: { evidence: Evidence }) {
  const at = lines ? `${ref}:${lines}` : ref
  return (
    <>
      {A_LINK.test(ref) ? (
        <a href={ref} target="_blank" rel="noopener noreferrer nofollow">
          {at}
        </a>
      ) : (
        <code>{at}</code>
      )}{" "}
      <span className={why.quiet}>{words.evidenceTypes[type]}</span>
      {quote && <blockquote className={own.quote}>{quote}</blockquote>}
    </>
  )
}

function What({ proposal }: { proposal: Proposal }) {
  const { kind, requirement, test_case: testCase } = proposal
  if (kind === "change") return <Differences proposal={proposal} />
  if (requirement && testCase) return <Pairs proposal={proposal} />
  if (kind === "relation") return <Related proposal={proposal} />
  return <Body said={proposal.body} />
}

/** Both requirements of a relation, the one below first. */
function Related({ proposal: { requirement, parent, body } }: { proposal: Proposal }) {
  const sides = [
    [words.child, requirement],
    [words.parent, parent],
  ] as const
  return (
    <div className={own.fields}>
      {sides.map(([label, item]) => item && <Body key={label} said={{ [label]: sentenceOf(item) }} />)}
      <Body said={body} />
    </div>
  )
}

function sentenceOf(item: object & { external_id: string | null; title: string }): string {
  const description = "description" in item ? String(item.description) : ""
  return [[item.external_id, item.title].filter(Boolean).join(": "), description].filter(Boolean).join("\n\n")
}

function Pairs({ proposal }: { proposal: Proposal }) {
  // Where the engine suggests the same pair, its marks show what the two have in common.
  const { data } = useQuery({ ...textsOf(proposal.suggestion_id ?? ""), enabled: proposal.suggestion_id !== null })
  const texts = data ?? (proposal as unknown as Texts)
  return (
    <div className={css.sides}>
      <BothTexts pair={proposal as unknown as Pair} texts={texts} only={undefined} areMarked={!!data} />
    </div>
  )
}

function Differences({ proposal }: { proposal: Proposal }) {
  return (
    <div className={own.fields}>
      {Object.entries(proposal.differences ?? {}).map(([field, segments]) => (
        <section key={field}>
          <h3>{words.field(field)}</h3>
          <Diff segments={segments} />
        </section>
      ))}
    </div>
  )
}

function Body({ said }: { said: Record<string, unknown> }) {
  return (
    <div className={own.fields}>
      {Object.entries(said).map(([field, value]) => (
        <section key={field}>
          <h3>{words.field(field)}</h3>
          <p>{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</p>
        </section>
      ))}
    </div>
  )
}
