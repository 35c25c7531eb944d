import { useInfiniteQuery } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import { Ago } from "../kit/ago"
import { Button } from "../kit/button"
import { Changes } from "../kit/changes"
import { Failure, Skeleton } from "../kit/states"
import { formatScore, m, people } from "../messages"
import { placeOf, VerdictBadge } from "../results/pieces"
import { readTimeline, type TimelineEntry, type TimelinePage } from "./api"
import { Compare } from "./compare"
import { changeOf, nameOfField } from "./fields"
import { type Item, type Kind, otherKind, TEST_CASES } from "./kinds"
import { ItemLink } from "./rows"
import css from "./timeline.module.css"

const words = m.items.timeline
const GROUPS = ["versions", "links", "suggestions", "results", "imports"] as const
type Group = (typeof GROUPS)[number]

/** All that happened to an item, the newest first; `first` is the page that came with it. */
export function Timeline({ kind, item, first }: { kind: Kind; item: Item; first: TimelinePage }) {
  const [chosen, setChosen] = useState<ReadonlySet<Group>>(new Set())
  const [comparing, setComparing] = useState(false)
  const show = GROUPS.filter((group) => chosen.has(group)).join(",")
  const query = useInfiniteQuery({
    queryKey: ["timeline", item.id, show, show ? "" : `${first.total} ${first.items[0]?.id}`],
    queryFn: ({ pageParam, signal }) => readTimeline(kind, item.id, { after: pageParam, show }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: TimelinePage) => page.next_after ?? undefined,
    ...(show ? {} : { initialData: { pages: [first], pageParams: [undefined] }, staleTime: Number.POSITIVE_INFINITY }),
  })
  const entries = query.data?.pages.flatMap((page) => page.items)
  const toggle = (group: Group) =>
    setChosen((before) => new Set(before.has(group) ? [...before].filter((one) => one !== group) : [...before, group]))
  return (
    <div className={css.timeline}>
      <fieldset className={css.filters}>
        <legend className="visually-hidden">{words.show}</legend>
        {GROUPS.map((group) => (
          <Button key={group} look="quiet" aria-pressed={chosen.has(group)} onPress={() => toggle(group)}>
            {words.groups[group]}
          </Button>
        ))}
        {item.version > 1 && (
          <Button look="quiet" aria-expanded={comparing} onPress={() => setComparing(!comparing)}>
            {m.items.history.compare}
          </Button>
        )}
      </fieldset>
      {comparing && <Compare key={item.version} kind={kind} item={item} />}
      {query.error ? <Failure error={query.error} /> : !entries && <Skeleton rows={3} />}
      {entries?.length === 0 && <p className={css.quiet}>{words.none}</p>}
      <ol className={css.entries} aria-label={words.title}>
        {entries?.map((entry) => (
          <li key={entry.id} data-kind={entry.kind}>
            <Entry kind={kind} entry={entry} />
          </li>
        ))}
      </ol>
      {query.hasNextPage && (
        <div>
          <Button isDisabled={query.isFetchingNextPage} onPress={() => void query.fetchNextPage()}>
            {m.common.more}
          </Button>
        </div>
      )}
    </div>
  )
}

function Entry({ kind, entry }: { kind: Kind; entry: TimelineEntry }) {
  const { at, version, item, note, score, result } = entry
  const other = result ? TEST_CASES : otherKind(kind)
  const who = entry.actor ? people(entry.actor) : m.items.history.somebody
  return (
    <>
      <p className={css.line}>
        <span>
          {result ? (
            <>
              <VerdictBadge verdict={result.status as never} />{" "}
              {result.before
                ? words.turned(m.items.values[result.before as "passed"] ?? result.before)
                : words.firstResult}
            </>
          ) : (
            words.kinds[entry.kind](who, entry.suspected_by ?? undefined)
          )}
        </span>
        {item?.title && <ItemLink path={other.path} item={item} />}
        {entry.kind === "changed" && version !== null && Object.keys(entry.differences).length > 0 && (
          <span className={css.version}>{m.items.history.version(version)}</span>
        )}
        {score !== null && <span className={css.quiet}>{m.items.origin.score(formatScore(score))}</span>}
        {entry.import_id && <Link href={`/import/${entry.import_id}`}>{words.byImport}</Link>}
        <span className={css.when}>
          <Ago iso={at} />
        </span>
      </p>
      {note && <q className={css.note}>{people(note)}</q>}
      {result && <ResultOf result={result} />}
      <Said entry={entry} />
    </>
  )
}

function ResultOf({ result: { message, run: told } }: { result: NonNullable<TimelineEntry["result"]> }) {
  const run = told as { id: string; branch: string; commit: string | null; recorded_by: string | null }
  return (
    <p className={css.quiet}>
      <Link href={`/results/${run.id}`}>{placeOf({ branch: run.branch, commit: run.commit })}</Link>
      {run.recorded_by && ` · ${m.items.timeline.recordedBy(people(run.recorded_by))}`}
      {message && ` · ${message.split("\n", 1)[0]}`}
    </p>
  )
}

const TOLD_ELSEWHERE = new Set(["confirmed_at", "confirmed_by"])

/** What a change says differently: texts word by word, other fields before and after. */
function Said({ entry: { changes, differences, coarse, fields } }: { entry: TimelineEntry }) {
  const texts = Object.entries(differences).map(([field, segments]) => ({
    field,
    name: nameOfField(field),
    diff: { segments },
  }))
  const others = Object.entries(changes)
    .filter(([field]) => !(field in differences) && !TOLD_ELSEWHERE.has(field))
    .filter(
      ([field]) => field !== "custom_metadata" || !Object.keys(differences).some((one) => one.startsWith("field.")),
    )
    .map(([field, { before, after }]) => changeOf(field, before, after))
  return (
    <>
      {fields.length > 0 && <p className={css.quiet}>{words.fields(fields.map(nameOfField).join(", "))}</p>}
      {texts.length + others.length > 0 && (
        <div className={css.said}>
          <Changes changes={[...texts, ...others]} />
        </div>
      )}
      {coarse.length > 0 && <p className={css.quiet}>{m.common.coarse}</p>}
    </>
  )
}
