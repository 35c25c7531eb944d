import type { UseQueryResult } from "@tanstack/react-query"
import { useState } from "react"
import { ApiProblem } from "../api/problem"
import type { components } from "../api/schema"
import { Button } from "../kit/button"
import { NotYet } from "../kit/states"
import { complain, toast } from "../kit/toast"
import { formatScore, m, people } from "../messages"
import { useMay } from "../session/session"
import { Looking, useLooking } from "../shell/looking"
import { review } from "./api"
import { type Item, type Kind, otherKind } from "./kinds"
import { useLinksChanged } from "./parts"
import { ItemLink } from "./rows"
import css from "./tab.module.css"

type Suggestion = components["schemas"]["Suggestion"]
type Decision = "accept" | "reject"

const words = m.items.suggestion
const DONE = { accept: words.accepted, reject: words.rejected }

type Props = {
  kind: Kind
  item: Item
  query: UseQueryResult<{ items: Suggestion[] }>
}

/** The pairs with an item that wait for a decision, and the decision. */
export function SuggestionsTab({ kind, query }: Props) {
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set())
  const changed = useLinksChanged(kind)
  const mayReview = useMay("reviewer")
  const search = useLooking()
  const shown = query.data?.items.filter(({ id }) => !decided.has(id))
  const put = (id: string, isDecided: boolean) =>
    setDecided((before) => new Set(isDecided ? [...before, id] : [...before].filter((one) => one !== id)))

  function undo(id: string) {
    review(id, "reopen")
      .then(() => toast(words.undone))
      .catch(complain)
      .finally(() => {
        put(id, false)
        changed()
      })
  }
  async function decide(id: string, decision: Decision) {
    put(id, true)
    try {
      await review(id, decision)
      toast(DONE[decision], { undo: () => undo(id) })
    } catch (failure) {
      put(id, false)
      complain(failure, whoWasFirst(failure))
    }
    changed()
  }
  return (
    <div className={css.tab}>
      <NotYet query={query} rows={3} />
      {shown?.length === 0 && search && (
        <div className={css.none}>{search.is_complete ? words.none : <Looking search={search} />}</div>
      )}
      <ul className={css.rows}>
        {shown?.map((one) => (
          <Pair
            key={one.id}
            kind={kind}
            suggestion={one}
            decide={mayReview ? (how) => void decide(one.id, how) : undefined}
          />
        ))}
      </ul>
    </div>
  )
}

function Pair({ kind, suggestion, decide }: { kind: Kind; suggestion: Suggestion; decide?: (how: Decision) => void }) {
  const other = otherKind(kind)
  const { band, similarity_score: score, suggestion_reason: reason } = suggestion
  return (
    <li className={css.row}>
      <div className={css.reason}>
        <ItemLink path={other.path} item={suggestion[other.name]} />
        <p className={css.none}>
          <span className="numbers">{formatScore(score)}</span>
          {band && ` (${m.common.bands[band]})`}
          {reason && ` · ${reason}`}
        </p>
      </div>
      {decide && (
        <div className={css.about}>
          <Button onPress={() => decide("accept")}>{words.accept}</Button>
          <Button look="quiet" onPress={() => decide("reject")}>
            {words.reject}
          </Button>
        </div>
      )}
    </li>
  )
}

/** Return the words for a pair that somebody else decided on before. */
function whoWasFirst(error: unknown): Record<string, string> {
  const { reviewed_by: who, status } = error instanceof ApiProblem ? error.body : {}
  return who && status ? { suggestion_not_pending: words.by(people(String(who)), String(status)) } : {}
}
