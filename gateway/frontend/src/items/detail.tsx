import { lazy, Suspense, useRef, useState } from "react"
import * as v from "valibot"
import { Link, useParams } from "wouter"
import { isGone } from "../api/problem"
import { useAskOnce } from "../kit/ask-once"
import { Button } from "../kit/button"
import { Page } from "../kit/page"
import { useShortcuts } from "../kit/shortcuts"
import { Empty, Failure, Skeleton } from "../kit/states"
import { Tabs } from "../kit/tabs"
import { toast } from "../kit/toast"
import { formatCount, m } from "../messages"
import { useMay } from "../session/session"
import { useUrl } from "../url"
import { ActivityTab } from "./activity-tab"
import type { Read } from "./api"
import css from "./detail.module.css"
import { ItemFacts } from "./facts"
import { nameOf } from "./fields"
import { ItemForm } from "./form"
import { HistoryTab } from "./history-tab"
import { ItemText } from "./item-text"
import { type Kind, REQUIREMENTS, TEST_CASES } from "./kinds"
import { LinksTab } from "./links-tab"
import { backTo } from "./memory"
import { useLinked, useSuggestions } from "./parts"
import { RemoveDialog } from "./remove"
import { useSave } from "./save"
import { SuggestionsTab } from "./suggestions-tab"
import { useItem } from "./use-item"

const TraceTab = lazy(async () => ({ default: (await import("../levels/trace-tab")).TraceTab }))
const ResultsTab = lazy(async () => ({ default: (await import("../results/screens")).ResultsTab }))
const TABS = ["links", "trace", "suggestions", "results", "history", "activity"] as const
const URL_FIELDS = { tab: v.optional(v.picklist(TABS), "links") }

export const RequirementDetail = () => <ItemDetail kind={REQUIREMENTS} />
export const TestCaseDetail = () => <ItemDetail kind={TEST_CASES} />

/** A requirement or a test case: what it says, what it is linked with, and what became of it. */
function ItemDetail({ kind }: { kind: Kind }) {
  const { id = "" } = useParams()
  const { data, error, refetch, isPlaceholderData } = useItem(kind, id)
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
  return <Loaded key={id} kind={kind} read={data} above={back} />
}

function Loaded({ kind, read, above }: { kind: Kind; read: Read; above: React.ReactNode }) {
  const { item, etag } = read
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
        </div>
      }
      actions={
        mayWrite &&
        !edited && (
          <>
            <Button keys="e" onPress={() => setEdited(read)}>
              {m.items.edit}
            </Button>
            <Button look="danger" onPress={() => setRemoving(true)}>
              {m.common.delete}
            </Button>
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
        <div className={css.columns}>
          <div className={css.main}>
            <ItemText kind={kind} item={item} />
            <Parts kind={kind} read={read} />
          </div>
          <aside className={css.facts} aria-label={m.items.detail.facts}>
            <ItemFacts kind={kind} item={item} save={mayWrite ? (edits) => save({ item, etag }, edits) : undefined} />
          </aside>
        </div>
      )}
      {clash}
      {isRemoving && <RemoveDialog kind={kind} read={read} name={nameOf(item)} close={() => setRemoving(false)} />}
    </Page>
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

const Trace = ({ item }: { item: Read["item"] }) => (
  <Suspense fallback={<Skeleton rows={3} />}>
    <TraceTab item={item} />
  </Suspense>
)

function Parts({ kind, read: { item } }: { kind: Kind; read: Read }) {
  const [{ tab }, setUrl] = useUrl(URL_FIELDS)
  const links = useLinked(kind, item.id)
  const suggestions = useSuggestions(kind, item.id)
  const words = m.items.detail
  const count = (total: number | undefined) => (total === undefined ? undefined : formatCount(total))
  return (
    <Tabs
      label={words.parts}
      chosen={tab}
      onChange={(id) => setUrl({ tab: id === "links" ? undefined : id }, { replace: true })}
      tabs={[
        {
          id: "links",
          label: words.links,
          count: count(links.data?.total),
          content: () => <LinksTab kind={kind} item={item} query={links} />,
        },
        ...(kind === REQUIREMENTS
          ? [{ id: "trace" as const, label: words.trace, content: () => <Trace item={item} /> }]
          : []),
        {
          id: "suggestions",
          label: words.suggestions,
          count: count(suggestions.data?.total),
          content: () => <SuggestionsTab kind={kind} item={item} query={suggestions} />,
        },
        {
          id: "results",
          label: words.results,
          content: () => (
            <Suspense fallback={<Skeleton rows={3} />}>
              <ResultsTab kind={kind} item={item} />
            </Suspense>
          ),
        },
        { id: "history", label: words.history, content: () => <HistoryTab kind={kind} item={item} /> },
        { id: "activity", label: words.activity, content: () => <ActivityTab item={item} /> },
      ]}
    />
  )
}
