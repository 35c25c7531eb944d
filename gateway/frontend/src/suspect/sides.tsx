import { Link } from "wouter"
import type { components } from "../api/schema"
import { nameOfField, textOf } from "../items/fields"
import type { Item } from "../items/kinds"
import type { Field } from "../items/merge"
import { Ago } from "../kit/ago"
import { Badge } from "../kit/badge"
import { Diff } from "../kit/diff"
import { m, people } from "../messages"
import css from "./page.module.css"

type Side = components["schemas"]["SuspectSide"]
type Texts = Partial<Item>

const OF_REQUIREMENT: Field[] = ["title", "description", "type", "priority"]
const OF_TEST_CASE: Field[] = [...OF_REQUIREMENT, "preconditions", "steps", "test_data", "postconditions"]

type Props = {
  suspicion: components["schemas"]["Suspicion"]
  requirement: components["schemas"]["Requirement"]
  testCase: components["schemas"]["TestCase"]
}

/** Both sides of a link side by side: what changed since it was confirmed, and what did not. */
export function Sides({ suspicion, requirement, testCase }: Props) {
  return (
    <div className={css.sides}>
      <SideOf
        label={m.suspect.requirement}
        path={`/requirements/${requirement.id}`}
        side={suspicion.requirement}
        item={requirement}
        fields={OF_REQUIREMENT}
      />
      <SideOf
        label={m.suspect.testCase}
        path={`/test-cases/${testCase.id}`}
        side={suspicion.test_case}
        item={testCase}
        fields={OF_TEST_CASE}
      />
    </div>
  )
}

type SideProps = { label: string; path: string; side: Side; item: Texts; fields: Field[] }

function SideOf({ label, path, side, item, fields }: SideProps) {
  const hasChanged = side.from_version !== side.to_version
  const latest = side.changed_by[0]
  return (
    <article className={css.side}>
      <header>
        <h2>
          {label} <Link href={path}>{side.external_id ?? side.title}</Link>
        </h2>
        {hasChanged ? (
          <Badge state="suspect">{m.suspect.versions(side.from_version, side.to_version)}</Badge>
        ) : (
          <Badge state="covered">{m.suspect.unchanged(side.to_version)}</Badge>
        )}
        {latest && (
          <p className={css.quiet}>
            <Ago iso={latest.occurred_at} /> {m.suspect.by(people(latest.actor))}
          </p>
        )}
      </header>
      {fields.map((field) => {
        const segments = side.differences[field]
        const text = textOf(field, item[field])
        if (!segments && !text) return null
        return (
          <section key={field}>
            <h3>{nameOfField(field)}</h3>
            {segments ? <Diff segments={segments} /> : <p className={css.text}>{text}</p>}
            {side.coarse.includes(field) && <p className={css.quiet}>{m.common.coarse}</p>}
          </section>
        )
      })}
    </article>
  )
}
