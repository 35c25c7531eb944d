import { useQuery } from "@tanstack/react-query"
import css from "./levels.module.css"
import { impactOf } from "./queries"
import { words as all } from "./words"

const words = all.impact

/** What a change of meaning makes suspect, told before it is saved; nothing where it makes nothing so. */
export default function MadeSuspect({ id }: { id: string }) {
  const { data } = useQuery(impactOf(id))
  if (!data) return null
  const { relations, links } = data.becomes_suspect
  const told = [
    relations.total > 0 && words.relations(relations.total),
    links.total > 0 && words.links(links.total),
  ].filter((one) => one !== false)
  if (told.length === 0) return null
  const [first = "", second] = told
  return (
    <details className={css.impact}>
      <summary>{words.makes(second === undefined ? first : words.both(first, second))}</summary>
      <ul>
        {relations.items.map(({ id: key, child, parent }) => (
          <li key={key}>{nameOf(child.id === id ? parent : child)}</li>
        ))}
        {links.items.map(({ id: key, test_case }) => (
          <li key={key}>{nameOf(test_case)}</li>
        ))}
      </ul>
    </details>
  )
}

const nameOf = ({ external_id, title }: { external_id: string | null; title: string }) =>
  external_id ? `${external_id} ${title}` : title
