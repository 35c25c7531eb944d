import { useQueries } from "@tanstack/react-query"
import { Link } from "wouter"
import { api } from "../api/client"
import { Button } from "../kit/button"
import { Dialog, DialogButtons } from "../kit/dialog"
import { m } from "../messages"
import css from "./both.module.css"
import type { Pair } from "./queue"

const MOST = 50

type Linked = { id: string; title: string; external_id: string | null }

/** Both items with what they are linked to already, a glance beside the pair, and the way to each. */
export function Both({ pair, close }: { pair: Pair; close: () => void }) {
  const query = { limit: MOST }
  const [tests, requirements] = useQueries({
    queries: [
      {
        queryKey: ["requirements", pair.requirement.id, "test-cases"],
        queryFn: () =>
          api.get("/api/v1/requirements/{requirement_id}/test-cases", {
            params: { path: { requirement_id: pair.requirement.id }, query },
          }),
      },
      {
        queryKey: ["test-cases", pair.test_case.id, "requirements"],
        queryFn: () =>
          api.get("/api/v1/test-cases/{test_case_id}/requirements", {
            params: { path: { test_case_id: pair.test_case.id }, query },
          }),
      },
    ],
  })
  return (
    <Dialog title={m.review.both.title} isOpen onClose={close} wide>
      <div className={css.both}>
        <Item
          kind={m.review.requirement}
          path="/requirements"
          item={pair.requirement}
          label={m.review.both.linkedTests}
          otherPath="/test-cases"
          linked={tests.data}
        />
        <Item
          kind={m.review.testCase}
          path="/test-cases"
          item={pair.test_case}
          label={m.review.both.linkedRequirements}
          otherPath="/requirements"
          linked={requirements.data}
        />
      </div>
      <DialogButtons>
        <Button onPress={close}>{m.common.close}</Button>
      </DialogButtons>
    </Dialog>
  )
}

type Props = {
  kind: string
  path: string
  item: Pair["requirement"]
  label: (count: number) => string
  otherPath: string
  linked: { items: Linked[]; total: number } | undefined
}

function Item({ kind, path, item, label, otherPath, linked }: Props) {
  return (
    <section className={css.item}>
      <p className={css.kind}>{[kind, item.external_id, item.module].filter(Boolean).join(" · ")}</p>
      <h3>
        <Link href={`${path}/${item.id}`}>{item.title}</Link>
      </h3>
      <p className={css.kind}>{linked ? label(linked.total) : m.common.loading}</p>
      <ul>
        {linked?.items.map((other) => (
          <li key={other.id}>
            <Link href={`${otherPath}/${other.id}`}>{[other.external_id, other.title].filter(Boolean).join(" ")}</Link>
          </li>
        ))}
      </ul>
    </section>
  )
}
