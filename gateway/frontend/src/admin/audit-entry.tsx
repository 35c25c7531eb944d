import { Link } from "wouter"
import type { components } from "../api/schema"
import { Button } from "../kit/button"
import { Changes } from "../kit/changes"
import { Copied } from "../kit/copied"
import { FactList, type Facts } from "../kit/facts"
import { Panel } from "../kit/panel"
import { formatMoment, people } from "../messages"
import { writeAlternatives } from "../url"
import css from "./admin.module.css"
import type { AuditUrl } from "./audit-query"
import { nameOf, textOf } from "./values"
import { texts } from "./words"

type Entry = components["schemas"]["AuditEntry"]
const words = texts.audit
const PATHS: Partial<Record<Entry["resource_type"], string>> = {
  requirement: "/requirements",
  test_case: "/test-cases",
}

type Props = { entry: Entry; narrow: (change: Partial<AuditUrl>) => void; close: () => void }

/** One entry: who did what from where, each field before and after, and what to find it by in the logs. */
export function AuditEntryPanel({ entry, narrow, close }: Props) {
  const { actor, resource_id, changes } = entry
  const fields = Object.entries(changes)
  const only = (value: string) => writeAlternatives([{ value, not: false }])
  return (
    <Panel label={words.entry} onClose={close}>
      <article className={css.entry}>
        <h2>{people(entry.summary)}</h2>
        <FactList facts={factsOf(entry)} />
        {fields.length > 0 && (
          <section>
            <h3>{words.changes}</h3>
            <Changes
              changes={fields.map(([field, { before, after }]) => ({
                field,
                name: nameOf(field),
                diff: { before: textOf(before), after: textOf(after) },
              }))}
            />
          </section>
        )}
        <div className={css.buttons}>
          <Button onPress={() => narrow({ actor: only(actor) })}>{words.onlyActor}</Button>
          {resource_id && (
            <Button onPress={() => narrow({ resource_id: only(resource_id) })}>{words.onlyResource}</Button>
          )}
        </div>
      </article>
    </Panel>
  )
}

function factsOf(entry: Entry): Facts {
  const { address, reason, ...details } = entry.details ?? {}
  const { request_id, gateway_request_id } = entry
  return [
    [words.at, formatMoment(entry.occurred_at)],
    [words.actor, people(entry.actor)],
    [words.address, address ? textOf(address) : null],
    [words.action, words.actions[entry.action]],
    [words.reason, reason ? textOf(reason).replaceAll("_", " ") : null],
    [words.resource, <Resource key="resource" entry={entry} />],
    ...Object.entries(details).map(([name, value]): Facts[number] => [nameOf(name), textOf(value)]),
    [words.request, <Copied key="request" text={request_id} />],
    [
      words.gatewayRequest,
      gateway_request_id && gateway_request_id !== request_id && <Copied key="gateway" text={gateway_request_id} />,
    ],
  ]
}

function Resource({ entry }: { entry: Entry }) {
  const { resource_type, resource_id, resource_ids, resource_title } = entry
  const path = PATHS[resource_type]
  if (resource_ids) return `${words.resources[resource_type]}: ${words.ids(resource_ids.length)}`
  if (!resource_id) return words.resources[resource_type]
  const name = resource_title ?? resource_id
  if (!path || entry.action.endsWith("deleted")) return `${words.resources[resource_type]}: ${name}`
  return (
    <>
      {words.resources[resource_type]}: <Link href={`${path}/${resource_id}`}>{name}</Link>
    </>
  )
}
