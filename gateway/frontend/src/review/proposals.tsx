import { type ReactNode, useState } from "react"
import { Button } from "../kit/button"
import { Field } from "../kit/field"
import { useTitle } from "../kit/page"
import { useShortcuts } from "../kit/shortcuts"
import { Empty, NotYet } from "../kit/states"
import { formatScore, m } from "../messages"
import { useMay } from "../session/session"
import actions from "./actions.module.css"
import { From } from "./from"
import rows from "./list.module.css"
import { ManyProposals } from "./many-proposals"
import css from "./page.module.css"
import { ProposalReading } from "./proposal-reading"
import { words } from "./proposal-words"
import own from "./proposals.module.css"
import { titleOf, useProposals } from "./use-proposals"

/** What agents propose, one after the other, by the keys of the queue of suggestions. */
export default function Proposals({ from }: { from: string }) {
  const { waiting, current, index, left, canUndo, choose, move, decide, undo, ...rest } = useProposals(from)
  const mayReview = useMay("reviewer")
  const [isManyOpen, setManyOpen] = useState(false)
  const [note, setNote] = useState<{ of: string; text: string }>()
  const feedback = note && note.of === current?.id ? note.text.trim() : ""
  useTitle(m.review.title)
  const accept = () => void decide("accepted", feedback)
  const reject = () => void decide("rejected", feedback)
  const skip = () => void decide("skipped")
  const write = () => current && setNote({ of: current.id, text: feedback })
  useShortcuts([
    { keys: "j", label: m.review.keys.next, repeats: true, run: () => move(1) },
    { keys: "k", label: m.review.keys.previous, repeats: true, run: () => move(-1) },
    ...(mayReview
      ? [
          { keys: "a", label: m.review.keys.accept, run: accept },
          { keys: "x", label: m.review.keys.reject, run: reject },
          { keys: "s", label: m.review.keys.skip, run: skip },
          { keys: "n", label: m.review.keys.note, run: write },
          ...(current ? [{ keys: "Shift+A", label: words.many, run: () => setManyOpen(true) }] : []),
          { keys: "u", label: m.review.keys.undo, run: undo },
          { keys: "Mod+z", label: m.review.keys.undo, run: undo },
          { keys: "Backspace", label: m.review.keys.undo, run: undo },
        ]
      : []),
  ])
  return (
    <div className={css.page}>
      <header className={css.header}>
        <h1>{m.review.title}</h1>
        <From />
        {mayReview && current && (
          <Button keys="Shift+A" onPress={() => setManyOpen(true)}>
            {words.manyOpen}
          </Button>
        )}
      </header>
      <p className="visually-hidden" role="status">
        {current && m.review.reading(index + 1, left, titleOf(current))}
      </p>
      {current ? (
        <div className={css.columns}>
          <div className={css.list}>
            <div className={rows.box}>
              <ol aria-label={words.proposals}>
                {waiting.map((one) => (
                  <li key={one.id} className={own.place}>
                    <button
                      type="button"
                      className={rows.row}
                      aria-current={one.id === current.id || undefined}
                      onClick={() => choose(one.id)}
                    >
                      <span className={rows.score}>
                        {one.engine_score === null ? "–" : formatScore(one.engine_score)}
                      </span>
                      <span className={rows.titles}>
                        <span>{titleOf(one)}</span>
                        <span className={rows.test}>{`${words.kinds[one.kind]} · ${one.agent.name}`}</span>
                      </span>
                    </button>
                  </li>
                ))}
              </ol>
            </div>
          </div>
          <div className={css.main}>
            <ProposalReading proposal={current} others={rest.others} key={current.id} />
            {mayReview && (
              <div className={actions.actions}>
                {note?.of === current.id && (
                  <Field
                    label={m.review.noteLabel}
                    hint={words.agentReads}
                    lines={2}
                    autoFocus
                    value={note.text}
                    onChange={(text) => setNote({ of: current.id, text })}
                    onKeyDown={(event) => {
                      if (event.key === "Escape" && event.target instanceof HTMLElement) event.target.blur()
                    }}
                  />
                )}
                <div className={actions.how}>
                  <Button look="quiet" keys="n" onPress={write}>
                    {feedback ? m.review.noteThere : m.review.note}
                  </Button>
                </div>
                <div className={actions.decide}>
                  <Button look="quiet" keys="u" isDisabled={!canUndo} onPress={undo}>
                    {m.common.undo}
                  </Button>
                  <Button keys="s" onPress={skip}>
                    {m.review.skip}
                  </Button>
                  <Button keys="x" onPress={reject}>
                    {m.review.reject}
                  </Button>
                  <Button look="primary" keys="a" onPress={accept}>
                    {words.acceptKinds[current.kind]}
                  </Button>
                </div>
              </div>
            )}
          </div>
        </div>
      ) : (
        <None>
          <NotYet query={rest.query} />
          {rest.query.data && !rest.hasMore && rest.skipped === 0 && (
            <Empty title={words.noProposals} hint={words.noProposalsHint} />
          )}
          {rest.query.data && !rest.hasMore && rest.skipped > 0 && (
            <Empty title={words.onlySkipped(rest.skipped)} hint={words.onlySkippedHint}>
              <Button onPress={rest.showSkipped}>{words.showSkipped}</Button>
            </Empty>
          )}
        </None>
      )}
      {current && isManyOpen && (
        <ManyProposals
          proposal={current}
          close={() => setManyOpen(false)}
          done={(ids, decision, message) => void rest.decidedMany(ids, decision, message)}
        />
      )}
    </div>
  )
}

function None({ children }: { children: ReactNode }) {
  return <div className={own.none}>{children}</div>
}
