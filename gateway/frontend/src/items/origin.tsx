import type { components } from "../api/schema"
import { Ago } from "../kit/ago"
import { formatScore, m, people } from "../messages"
import css from "./tab.module.css"

type Link = components["schemas"]["Link"]

const words = m.items.origin

/** Who made or accepted a link, from which score and with which note, and who confirmed it last for which versions. */
export function Origin({ link }: { link: Link }) {
  const { link_source, created_by, confidence_score, confirmed_at, confirmed_by, notes } = link
  const wasConfirmed = confirmed_at !== null && confirmed_at !== link.created_at
  const isAccepted = link_source === "ai_confirmed"
  return (
    <div className={css.origin}>
      <span>
        {words[link_source](created_by ? people(created_by) : undefined)} <Ago iso={link.created_at} />
        {isAccepted && confidence_score !== null && ` · ${words.score(formatScore(confidence_score))}`}
      </span>
      {wasConfirmed && (
        <span>
          {words.confirmed(confirmed_by ? people(confirmed_by) : undefined)} <Ago iso={confirmed_at} /> ·{" "}
          {words.versions(link.requirement_version, link.test_case_version)}
        </span>
      )}
      {notes && <q className={css.note}>{people(notes)}</q>}
    </div>
  )
}
