import { useMemo, useRef } from "react"
import * as v from "valibot"
import { Button } from "../kit/button"
import { Choice } from "../kit/choice"
import { Filter, optionsOf } from "../kit/filter"
import { FilterBar } from "../kit/filter-bar"
import { Page } from "../kit/page"
import { useShortcuts } from "../kit/shortcuts"
import { Empty, NotYet } from "../kit/states"
import { formatCount, formatLongDay, m } from "../messages"
import { useUrl } from "../url"
import { useNotificationActions, useNotifications } from "./api"
import { daysOf, type Group, isFolded } from "./groups"
import { type Actions, FoldedGroup, NotificationLine } from "./lines"
import css from "./page.module.css"

const URL_FIELDS = { type: v.optional(v.string()), unread: v.optional(v.picklist(["true"])) }
const words = m.notifications

export default function NotificationsPage() {
  const [url, setUrl] = useUrl(URL_FIELDS)
  const { rows, page, hasMore, more, isStale, query } = useNotifications(url)
  const actions = useNotificationActions()
  const list = useRef<HTMLDivElement>(null)
  useLineKeys(list, more)
  const days = useMemo(() => daysOf(rows ?? []), [rows])
  const isNarrowed = Boolean(url.type || url.unread)
  return (
    <Page
      title={words.title}
      actions={
        <Button isDisabled={!page?.unread_count} onPress={() => void actions.markAllRead(url.type)}>
          {url.type ? words.markAllOfType : words.markAll}
        </Button>
      }
    >
      <FilterBar label={words.filters} count={page && countOf(page, isNarrowed)}>
        <Choice
          label={words.which}
          value={url.unread ?? "all"}
          options={[
            { value: "all", label: words.all },
            { value: "true", label: words.unread },
          ]}
          onChange={(unread) => setUrl({ unread: unread === "all" ? undefined : unread })}
        />
        <Filter
          label={words.type}
          value={url.type}
          onChange={(type) => setUrl({ type })}
          options={optionsOf(words.types)}
        />
      </FilterBar>
      <NotYet query={query} />
      {rows?.length === 0 && (
        <Nothing url={url} clear={isNarrowed ? () => setUrl({ type: undefined, unread: undefined }) : undefined} />
      )}
      <div ref={list} className={css.days} aria-busy={isStale || undefined}>
        {days.map(({ key, groups }) => (
          <section key={key} className={css.day}>
            <h2>{formatLongDay(groups[0]?.items[0]?.created_at ?? "")}</h2>
            <ul>
              {groups.map((group) => (
                <GroupLines key={group.key} group={group} actions={actions} />
              ))}
            </ul>
          </section>
        ))}
      </div>
      {hasMore && (
        <div>
          <Button onPress={more}>{words.older}</Button>
        </div>
      )}
    </Page>
  )
}

function countOf({ total, unread_count }: { total: number; unread_count: number }, isNarrowed: boolean): string {
  return isNarrowed ? words.matching(total) : words.count(formatCount(total), formatCount(unread_count))
}

function GroupLines({ group, actions }: { group: Group; actions: Actions }) {
  if (isFolded(group)) return <FoldedGroup group={group} actions={actions} />
  return group.items.map((one) => <NotificationLine key={one.id} notification={one} actions={actions} />)
}

function Nothing({ url, clear }: { url: { type?: string; unread?: string }; clear: (() => void) | undefined }) {
  if (!clear) return <Empty title={words.none} hint={words.noneHint} />
  return (
    <Empty title={url.unread && !url.type ? words.noUnread : words.noMatch}>
      <Button onPress={clear}>{m.common.clearFilters}</Button>
    </Empty>
  )
}

/** Have j and k move the focus from line to line, and read older ones at the end; Enter follows the line. */
function useLineKeys(list: { current: HTMLElement | null }, more: () => void): void {
  const last = useRef<HTMLElement>(undefined)
  function move(step: 1 | -1) {
    const lines = [...(list.current?.querySelectorAll<HTMLElement>("[data-line]") ?? [])]
    const here = [document.activeElement, last.current].map((one) => lines.indexOf(one as HTMLElement))
    const next = lines[(here.find((place) => place >= 0) ?? -Math.max(step, 0)) + step]
    if (!next && step === 1) more()
    last.current = next ?? last.current
    next?.focus()
  }
  useShortcuts([
    { keys: "j", label: words.next, repeats: true, run: () => move(1) },
    { keys: "k", label: words.before, repeats: true, run: () => move(-1) },
    { keys: "Enter", label: words.open, run: () => last.current?.click() },
  ])
}
