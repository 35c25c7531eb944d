import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect, useMemo, useState } from "react"
import { useLocation } from "wouter"
import { api } from "../api/client"
import { Origin } from "../items/origin"
import { Button } from "../kit/button"
import { useEndless } from "../kit/endless"
import { Ask } from "../kit/form"
import { Held } from "../kit/held"
import { Page } from "../kit/page"
import { useShortcuts } from "../kit/shortcuts"
import { Empty, NotYet } from "../kit/states"
import { complain, toast } from "../kit/toast"
import { formatCount, m } from "../messages"
import { useMay } from "../session/session"
import { type Group, groupsOf, neighbour, type SuspectLink } from "./groups"
import { SuspectList } from "./list"
import css from "./page.module.css"
import { confirm, readSuspects, suspicionOf } from "./queries"
import { Sides } from "./sides"

const HELD_MS = 5000
const PROBLEMS = { 412: m.suspect.changedAgain, 404: m.suspect.gone }
/** The API has no way back from a confirmation. */
const confirmations = new Held(HELD_MS)

type Taken = { link: SuspectLink; how: "confirmed" | "unlinked" }

export default function SuspectPage() {
  const { rows, page, hasMore, more, query } = useEndless(["links", "suspect"], readSuspects)
  const [taken, setTaken] = useState<Taken[]>([])
  const all = useMemo(() => (rows ?? []) as SuspectLink[], [rows])
  const groups = useMemo(() => {
    const ids = new Set(taken.map(({ link }) => link.id))
    return groupsOf(all.filter(({ id }) => !ids.has(id)))
  }, [all, taken])
  const total = (page?.total ?? 0) - taken.filter(({ link }) => all.includes(link)).length
  const isDone = groups.length === 0 && !hasMore
  if (query.error || !rows || isDone) {
    return (
      <Page title={m.suspect.title}>
        <NotYet query={query} />
        {rows && !query.error && (
          <Empty title={taken.length > 0 ? m.suspect.allDone : m.suspect.none} hint={m.suspect.noneHint} />
        )}
      </Page>
    )
  }
  return (
    <Page title={m.suspect.title} fill actions={<span>{m.suspect.count(formatCount(total))}</span>}>
      <Worklist groups={groups} taken={taken} setTaken={setTaken} more={more} />
    </Page>
  )
}

type WorklistProps = {
  groups: Group[]
  taken: Taken[]
  setTaken: (change: (taken: Taken[]) => Taken[]) => void
  more: () => void
}

function Worklist({ groups, taken, setTaken, more }: WorklistProps) {
  const links = useMemo(() => groups.flatMap((group) => group.links), [groups])
  const [chosen, setChosen] = useState<string>()
  const current = links.find(({ id }) => id === chosen) ?? links[0]
  const [asking, setAsking] = useState<"unlink" | Group>()
  const may = useMay("reviewer")
  const [, go] = useLocation()
  const queries = useQueryClient()
  const suspicion = useQuery({ ...suspicionOf(current?.id ?? ""), enabled: current !== undefined })
  useEffect(() => confirmations.sendAll, [])

  function take(link: SuspectLink, how: Taken["how"]) {
    setChosen(neighbour(links, link.id))
    setTaken((before) => [...before, { link, how }])
  }
  function putBack(id: string, why?: unknown) {
    setTaken((before) => before.filter(({ link }) => link.id !== id))
    setChosen(id)
    if (why) complain(why, PROBLEMS)
    void queries.invalidateQueries({ queryKey: ["links"] })
  }
  function confirmCurrent() {
    if (!current || suspicion.data?.link.id !== current.id) return
    const { id } = current
    const { etag } = suspicion.data
    confirmations.add(id, () => confirm(id, etag).catch((problem) => putBack(id, problem)))
    take(current, "confirmed")
    toast(m.suspect.confirmed, { undo: () => undo(id) })
  }
  function undo(id = taken.at(-1)?.link.id) {
    const one =
      taken.find(({ link }) => link.id === id) ?? (id ? { link: { id } as SuspectLink, how: "confirmed" } : undefined)
    if (!one) return
    if (one.how === "unlinked") void linkAgain(one.link)
    else if (confirmations.takeBack(one.link.id)) putBack(one.link.id)
    else toast(m.suspect.tooLate)
  }
  async function unlink(link: SuspectLink) {
    setAsking(undefined)
    take(link, "unlinked")
    try {
      await api.delete("/api/v1/links/{link_id}", {
        params: { path: { link_id: link.id } },
        headers: suspicion.data ? { "if-match": suspicion.data.etag } : {},
      })
      toast(m.suspect.unlinked, { undo: () => void linkAgain(link) })
    } catch (problem) {
      putBack(link.id, problem)
    }
  }
  async function linkAgain({ id, requirement_id, test_case_id, link_type, notes }: SuspectLink) {
    try {
      await api.post("/api/v1/links", { body: { requirement_id, test_case_id, link_type, notes } })
      setTaken((before) => before.filter(({ link }) => link.id !== id))
      void queries.invalidateQueries({ queryKey: ["links"] })
    } catch (problem) {
      complain(problem, PROBLEMS)
    }
  }
  async function confirmAll(group: Group) {
    setAsking(undefined)
    let done = 0
    for (const link of group.links) {
      try {
        const { etag } = await queries.ensureQueryData(suspicionOf(link.id))
        await confirm(link.id, etag)
        setTaken((before) => [...before, { link, how: "confirmed" }])
        done++
      } catch (problem) {
        complain(problem, PROBLEMS)
      }
    }
    if (done > 0) toast(m.suspect.confirmedMany(done))
  }
  function move(step: 1 | -1) {
    if (current) setChosen(neighbour(links, current.id, step))
  }
  const editTest = () => current && go(`/test-cases/${current.test_case_id}`)
  useShortcuts([
    { keys: "j", label: m.suspect.next, repeats: true, run: () => move(1) },
    { keys: "k", label: m.suspect.previous, repeats: true, run: () => move(-1) },
    { keys: "s", label: m.suspect.skip, run: () => move(1) },
    ...(may
      ? [
          { keys: "c", label: m.suspect.confirm, run: confirmCurrent },
          { keys: "e", label: m.suspect.edit, run: editTest },
          { keys: "d", label: m.suspect.unlink, run: () => setAsking("unlink") },
          { keys: "u", label: m.common.undo, run: () => undo() },
        ]
      : []),
  ])
  return (
    <div className={css.worklist}>
      <SuspectList
        groups={groups}
        current={current?.id}
        choose={setChosen}
        confirmAll={may ? setAsking : undefined}
        more={more}
      />
      <section
        className={css.pair}
        aria-label={current ? `${current.requirement.title}, ${current.test_case.title}` : ""}
      >
        {current && <Origin link={current} />}
        {suspicion.data?.link.id === current?.id && suspicion.data ? (
          <Sides {...suspicion.data} />
        ) : (
          <NotYet query={suspicion} rows={6} />
        )}
        {may && (
          <div className={css.actions}>
            <Button look="primary" keys="c" onPress={confirmCurrent}>
              {m.suspect.confirm}
            </Button>
            <Button keys="e" onPress={editTest}>
              {m.suspect.edit}
            </Button>
            <Button look="danger" keys="d" onPress={() => setAsking("unlink")}>
              {m.suspect.unlink}
            </Button>
            <Button look="quiet" keys="s" onPress={() => move(1)}>
              {m.suspect.skip}
            </Button>
            <Button look="quiet" keys="u" isDisabled={taken.length === 0} onPress={() => undo()}>
              {m.common.undo}
            </Button>
          </div>
        )}
      </section>
      {asking === "unlink" && current && (
        <Ask
          role="alertdialog"
          title={m.suspect.unlinkTitle}
          action={m.suspect.unlink}
          look="danger"
          focus="action"
          run={() => void unlink(current)}
          close={() => setAsking(undefined)}
        >
          <p>{m.suspect.unlinkHint}</p>
        </Ask>
      )}
      {typeof asking === "object" && (
        <Ask
          role="alertdialog"
          title={m.suspect.confirmAllTitle}
          action={m.suspect.confirmAll(asking.links.length)}
          focus="action"
          run={() => void confirmAll(asking)}
          close={() => setAsking(undefined)}
        >
          <p>{m.suspect.confirmAllHint(asking.links.length, asking.item.external_id ?? asking.item.title)}</p>
        </Ask>
      )}
    </div>
  )
}
