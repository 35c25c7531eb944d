import { useQueryClient } from "@tanstack/react-query"
import { lazy, Suspense, useRef, useState } from "react"
import * as v from "valibot"
import { Link, useLocation, useParams } from "wouter"
import { useEvents } from "../api/events"
import { isGone } from "../api/problem"
import { useAskOnce } from "../kit/ask-once"
import { Badge } from "../kit/badge"
import { Button, DocumentLink } from "../kit/button"
import { Page } from "../kit/page"
import { useShortcuts } from "../kit/shortcuts"
import { Empty, Failure, Skeleton } from "../kit/states"
import { Tabs } from "../kit/tabs"
import { toast } from "../kit/toast"
import { formatCount, m } from "../messages"
import { addressed } from "../projects/address"
import { VerdictBadge } from "../results/pieces"
import { useMay } from "../session/session"
import { useUrl } from "../url"
import type { Detail, Read } from "./api"
import css from "./detail.module.css"
import { ItemFacts } from "./facts"
import { nameOf } from "./fields"
import { ItemForm } from "./form"
import { ItemLinks } from "./item-links"
import { ItemText } from "./item-text"
import { type Item, type Kind, REQUIREMENTS, TEST_CASES, word } from "./kinds"
import { backTo, neighboursOf } from "./memory"
import { useSuggestions } from "./parts"
import { RemoveDialog } from "./remove"
import { useSave } from "./save"
import { SuggestionsTab } from "./suggestions-tab"
import { Timeline } from "./timeline"
import { Trace } from "./trace"
import { useDetail } from "./use-item"

const TraceTab = lazy(async () => ({ default: (await import("../levels/trace-tab")).TraceTab }))
const ResultsTab = lazy(async () => ({ default: (await import("../results/screens")).ResultsTab }))
const TABS = ["timeline", "trace", "suggestions", "results"] as const
const URL_FIELDS = { tab: v.optional(v.picklist(TABS), "timeline") }

export const RequirementDetail = () => <ItemDetail kind={REQUIREMENTS} />
export const TestCaseDetail = () => <ItemDetail kind={TEST_CASES} />

/** A requirement or a test case: what it says, what it is linked with, and what became of it. */
function ItemDetail({ kind }: { kind: Kind }) {
  const { id = "" } = useParams()
  const { data, error, refetch, isPlaceholderData } = useDetail(kind, id)
  const back = (
    <nav className={css.back} aria-label={m.items.detail.back}>
      <Link href={backTo(kind)}>{kind.words.many}</Link>
    </nav>
  )
  if (isGone(error)) {
    return (
      <Page title={kind.words.many} above={back}>
        <Empty title={kind.words.gone} />
      </Page>
    )
  }
  if (!data || isPlaceholderData) {
    return (
      <Page title={kind.words.many} above={back}>
        {error ? <Failure error={error} retry={() => void refetch()} /> : <Skeleton />}
      </Page>
    )
  }
  return <Loaded key={id} kind={kind} detail={data} above={back} />
}

function Loaded({ kind, detail, above }: { kind: Kind; detail: Detail; above: React.ReactNode }) {
  const { item, etag } = detail
  const read = { item, etag }
  const [{ tab }] = useUrl(URL_FIELDS)
  const client = useQueryClient()
  useEvents(({ event }) => {
    if (event === "test_run.completed") void client.invalidateQueries({ queryKey: [kind.key, "detail", item.id] })
  })
  const mayWrite = useMay("reviewer")
  // What is edited stays as it was read, though others go on: they meet when it is saved.
  const [edited, setEdited] = useState<Read>()
  const [isRemoving, setRemoving] = useState(false)
  const [save, clash] = useSave(kind)
  useShortcuts(mayWrite && !edited ? [{ keys: "e", label: m.items.edit, run: () => setEdited(read) }] : [])
  return (
    <Page
      title={item.title}
      above={
        <div className={css.above}>
          {above}
          <span className={css.id}>{item.external_id}</span>
          <Neighbours kind={kind} id={item.id} />
        </div>
      }
      actions={
        !edited && (
          <>
            {kind === REQUIREMENTS && (
              <DocumentLink href={addressed(`/api/v1/requirements/${item.id}/evidence?format=html`)}>
                {m.items.detail.evidence}
              </DocumentLink>
            )}
            {mayWrite && (
              <>
                <Button keys="e" onPress={() => setEdited(read)}>
                  {m.items.edit}
                </Button>
                <Button look="danger" onPress={() => setRemoving(true)}>
                  {m.common.delete}
                </Button>
              </>
            )}
          </>
        )
      }
    >
      {edited ? (
        <Editing leave={() => setEdited(undefined)}>
          <ItemForm
            kind={kind}
            item={edited.item}
            button={m.items.save}
            cancel={() => setEdited(undefined)}
            send={async (edits) => {
              const saved = await save(edited, edits)
              setEdited(undefined)
              if (saved) toast(m.items.saved)
            }}
          />
        </Editing>
      ) : (
        <>
          <Chips detail={detail} />
          <div className={css.columns}>
            <div className={css.main}>
              <ItemText kind={kind} item={item} />
              <aside className={css.facts} aria-label={m.items.detail.facts}>
                <ItemFacts
                  kind={kind}
                  item={item}
                  save={mayWrite ? (edits) => save({ item, etag }, edits) : undefined}
                />
              </aside>
            </div>
            <div className={css.side}>
              <Trace kind={kind} detail={detail} />
              <ItemLinks kind={kind} item={item} links={detail.links} />
              <Results kind={kind} item={item} isOpen={tab === "results"} />
            </div>
            <div className={css.parts}>
              <Parts kind={kind} detail={detail} />
            </div>
          </div>
        </>
      )}
      {clash}
      {isRemoving && <RemoveDialog kind={kind} read={read} name={nameOf(item)} close={() => setRemoving(false)} />}
    </Page>
  )
}

/** How an item stands, at a glance. */
function Chips({ detail: { item, verdict, coverage } }: { detail: Detail }) {
  return (
    <ul className={css.chips} aria-label={m.items.detail.standing}>
      <li>
        <VerdictBadge verdict={verdict.verdict} />
      </li>
      <li>
        <Badge state={coverage.links > 0 ? "covered" : "none"}>{m.items.detail.linked(coverage.links)}</Badge>
      </li>
      {coverage.suspect_links > 0 && (
        <li>
          <Badge state="suspect">{m.items.detail.suspect(coverage.suspect_links)}</Badge>
        </li>
      )}
      <li className={css.chip}>{m.items.detail.priority(word(item.priority))}</li>
      <li className={css.chip}>{word(item.status)}</li>
    </ul>
  )
}

/** What stands before and behind it in the list that somebody came from. */
function Neighbours({ kind, id }: { kind: Kind; id: string }) {
  const { before, next } = neighboursOf(kind, id)
  const [, go] = useLocation()
  const words = m.items.detail
  useShortcuts([
    ...(next ? [{ keys: "j", label: words.next, run: () => go(`${kind.path}/${next}`) }] : []),
    ...(before ? [{ keys: "k", label: words.before, run: () => go(`${kind.path}/${before}`) }] : []),
  ])
  if (!before && !next) return null
  return (
    <span className={css.neighbours}>
      {before && <Link href={`${kind.path}/${before}`}>← {words.before}</Link>}
      {next && <Link href={`${kind.path}/${next}`}>{words.next} →</Link>}
    </span>
  )
}

/** A form in place of what it changes; Escape leaves it, once it has asked for what was typed. */
function Editing({ leave, children }: { leave: () => void; children: React.ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  const [tryToLeave, question] = useAskOnce(box, leave, "if typed")
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the fields have the focus
    <div ref={box} className={css.form} onKeyDown={({ key }) => key === "Escape" && tryToLeave()}>
      {children}
      {question}
    </div>
  )
}

const Tree = ({ item }: { item: Read["item"] }) => (
  <Suspense fallback={<Skeleton rows={3} />}>
    <TraceTab item={item} />
  </Suspense>
)

/** What results say of it in full; read only where somebody opens it. */
function Results({ kind, item, isOpen }: { kind: Kind; item: Item; isOpen: boolean }) {
  const [open, setOpen] = useState(isOpen)
  return (
    <details className={css.results} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{m.items.detail.results}</summary>
      {open && (
        <section aria-label={m.items.detail.results}>
          <Suspense fallback={<Skeleton rows={3} />}>
            <ResultsTab kind={kind} item={item} />
          </Suspense>
        </section>
      )}
    </details>
  )
}

function Suggestions({ kind, item }: { kind: Kind; item: Item }) {
  return <SuggestionsTab kind={kind} item={item} query={useSuggestions(kind, item.id)} />
}

function Parts({ kind, detail: { item, timeline, coverage } }: { kind: Kind; detail: Detail }) {
  const [{ tab }, setUrl] = useUrl(URL_FIELDS)
  const words = m.items.detail
  return (
    <Tabs
      label={words.parts}
      chosen={tab === "results" ? "timeline" : tab}
      onChange={(id) => setUrl({ tab: id === "timeline" ? undefined : id }, { replace: true })}
      tabs={[
        {
          id: "timeline",
          label: words.timeline,
          count: formatCount(timeline.total),
          content: () => <Timeline kind={kind} item={item} first={timeline} />,
        },
        ...(kind === REQUIREMENTS
          ? [{ id: "trace" as const, label: words.trace, content: () => <Tree item={item} /> }]
          : []),
        {
          id: "suggestions",
          label: words.suggestions,
          count: formatCount(coverage.pending_suggestions),
          content: () => <Suggestions kind={kind} item={item} />,
        },
      ]}
    />
  )
}
