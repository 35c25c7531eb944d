import { useQuery, useQueryClient } from "@tanstack/react-query"
import { type ReactNode, useState } from "react"
import { FindItem } from "../items/find-item"
import { type Item, REQUIREMENTS } from "../items/kinds"
import { ItemLink } from "../items/rows"
import { Badge } from "../kit/badge"
import { Button } from "../kit/button"
import { NotYet } from "../kit/states"
import { complain, toast } from "../kit/toast"
import { Counts, VerdictBadge } from "../results/pieces"
import { useMay } from "../session/session"
import css from "./levels.module.css"
import { confirmRelation, impactOf, type Related, relate, relatedOf, rolledOf, unrelate } from "./queries"
import { words as all } from "./words"

const words = all.trace

/** What stands above a requirement, what it comes to, and what stands below it, side by side. */
export function TraceTab({ item }: { item: Item }) {
  const related = useQuery(relatedOf(item.id))
  const on = (direction: Related["direction"]) => related.data?.items.filter((one) => one.direction === direction)
  const parents = on("parent")
  const children = on("child")
  const taken = new Set([item.id, ...(related.data?.items ?? []).map(({ requirement }) => requirement.id)])
  return (
    <>
      <NotYet query={related} rows={3} />
      {related.data && (
        <div className={css.trace}>
          <Column title={words.above} none={words.noParents} related={parents}>
            <Add label={words.addParent} taken={taken} add={(other) => relate(item.id, other)} />
          </Column>
          <Here item={item} />
          <Column title={words.below} none={words.noChildren} related={children}>
            <Add label={words.addChild} taken={taken} add={(other) => relate(other, item.id)} />
          </Column>
        </div>
      )}
    </>
  )
}

function Column(props: { title: string; none: string; related: Related[] | undefined; children: ReactNode }) {
  const { title, none, related, children } = props
  const mayWrite = useMay("reviewer")
  return (
    <section className={css.column} aria-label={title}>
      <h3>{title}</h3>
      {related?.length === 0 && <p className={css.quiet}>{none}</p>}
      <ul>
        {related?.map((one) => (
          <One key={one.id} related={one} mayWrite={mayWrite} />
        ))}
      </ul>
      {mayWrite && children}
    </section>
  )
}

function One({ related, mayWrite }: { related: Related; mayWrite: boolean }) {
  const { id, requirement, relation_type, role, suspect, suspect_reason } = related
  const changed = useRelationsChanged()
  const name = requirement.external_id ?? requirement.title
  function act(work: Promise<unknown>, said: string) {
    work
      .then(() => toast(said))
      .catch(complain)
      .finally(changed)
  }
  return (
    <li className={css.related}>
      <ItemLink path="/requirements" item={requirement} />
      <div className={css.line}>
        <span>{role ?? words.types[relation_type]}</span>
        {suspect && (
          <span title={suspect_reason?.summary}>
            <Badge state="suspect">{words.suspect}</Badge>
          </span>
        )}
        {mayWrite && suspect && (
          <Button aria-label={words.confirmOf(name)} onPress={() => act(confirmRelation(id), words.confirmed)}>
            {words.confirm}
          </Button>
        )}
        {mayWrite && (
          <Button look="quiet" aria-label={words.removeOf(name)} onPress={() => act(unrelate(id), words.removed)}>
            {words.remove}
          </Button>
        )}
      </div>
    </li>
  )
}

function Here({ item }: { item: Item }) {
  const rolled = useQuery(rolledOf(item.id)).data
  const tests = useQuery(impactOf(item.id)).data?.tests
  return (
    <section className={`${css.column} ${css.here}`} aria-label={words.here}>
      <h3>{words.here}</h3>
      {rolled?.rolled && (
        <>
          <p className={css.line}>
            {all.rolled}: <VerdictBadge verdict={rolled.rolled.verdict} />
          </p>
          <Counts counts={rolled.rolled.counts} />
          {rolled.coverage && (
            <p className={css.line}>
              {all.coverage}: {all.coverages[rolled.coverage]}
            </p>
          )}
        </>
      )}
      <h3>{words.tests}</h3>
      {tests?.length === 0 && <p className={css.quiet}>{words.noTests}</p>}
      <ul>
        {tests?.map((one) => (
          <li key={one.link_id} className={css.related}>
            <ItemLink path="/test-cases" item={one} />
            {one.verdict && <VerdictBadge verdict={one.verdict} />}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** A search among requirements; the chosen one is added at once. */
function Add(props: { label: string; taken: ReadonlySet<string>; add: (id: string) => Promise<{ id: string }> }) {
  const { label, taken, add } = props
  const [isOpen, setOpen] = useState(false)
  const changed = useRelationsChanged()
  async function choose(id: string) {
    try {
      const made = await add(id)
      toast(words.added, { undo: () => void unrelate(made.id).finally(changed) })
    } catch (error) {
      complain(error)
    }
    changed()
  }
  if (!isOpen) {
    return (
      <div>
        <Button onPress={() => setOpen(true)}>{label}</Button>
      </div>
    )
  }
  return (
    <FindItem
      kind={REQUIREMENTS}
      label={label}
      choose={({ id }) => void choose(id)}
      close={() => setOpen(false)}
      linked={taken}
    />
  )
}

function useRelationsChanged(): () => void {
  const client = useQueryClient()
  return () => {
    for (const key of ["relations", "reports"]) void client.invalidateQueries({ queryKey: [key] })
  }
}
