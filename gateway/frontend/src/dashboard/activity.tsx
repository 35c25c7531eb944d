import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import { Ago } from "../kit/ago"
import { people } from "../messages"
import { useUser } from "../session/session"
import { Card } from "./card"
import { type Group, groupEntries } from "./groups"
import css from "./page.module.css"
import { latestActivity } from "./queries"
import { words } from "./words"

const { activity } = words
const SHOWN = 8
const SCREENS: Record<string, string> = {
  requirement: "/requirements",
  test_case: "/test-cases",
  test_run: "/results",
  import: "/imports",
}

/** What happened last, with what belongs together as one line. */
export function Activity({ days }: { days: number }) {
  return (
    <Card
      title={activity.title}
      query={useQuery(latestActivity(days))}
      nothing={({ items }) => items.length === 0 && activity.none(days)}
    >
      {({ items }) => (
        <ul className={css.lines}>
          {groupEntries(items)
            .slice(0, SHOWN)
            .map((group) => (
              <li key={group.first.id}>
                <Told group={group} />
                <span className={css.quiet}>
                  <Ago iso={group.first.occurred_at} />
                </span>
              </li>
            ))}
        </ul>
      )}
    </Card>
  )
}

function Told({ group: { first, count } }: { group: Group }) {
  const { email } = useUser()
  const { actor, action, summary, resource_type, resource_id } = first
  const who = actor === email ? activity.you : people(actor)
  const ofMany = count > 1 && activity.groups[action]?.(who, count)
  if (ofMany) return <span>{ofMany}</span>
  const screen = action.endsWith(".deleted") ? undefined : SCREENS[resource_type]
  const told = people(
    actor === email && summary.startsWith(actor) ? activity.you + summary.slice(actor.length) : summary,
  )
  return <span>{screen && resource_id ? <Link href={`${screen}/${resource_id}`}>{told}</Link> : told}</span>
}
