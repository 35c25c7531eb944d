import { useQuery } from "@tanstack/react-query"
import { NotYet } from "../kit/states"
import { formatAgo, formatShare, people } from "../messages"
import { agentsRead } from "../review/from"
import css from "./page.module.css"
import { words as screens } from "./words"

const words = screens.agents

/** What agents have proposed by their tokens, how often people accepted it, and how much of each may wait. */
export function Agents() {
  const read = useQuery(agentsRead)
  const agents = read.data?.items
  return (
    <section>
      <h2>{words.title}</h2>
      <p className={css.quiet}>{words.hint}</p>
      <NotYet query={read} rows={2} />
      {agents?.length === 0 && <p className={css.quiet}>{words.none}</p>}
      {agents && agents.length > 0 && (
        <ul className={css.list}>
          {agents.map((one) => (
            <li key={one.agent_id}>
              <span>{one.name}</span>
              <span className={css.quiet}>{people(one.owner)}</span>
              <span>{words.proposed(one.proposed, one.pending, one.most_pending)}</span>
              <span>
                {one.acceptance_rate === null ? words.notReviewed : words.accepted(formatShare(one.acceptance_rate))}
              </span>
              <span className={css.quiet}>{words.last(formatAgo(one.last_proposed_at))}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
