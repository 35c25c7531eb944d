import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect, useMemo, useState } from "react"
import { useLocation } from "wouter"
import { api } from "../api/client"
import { ApiProblem, unwrap } from "../api/problem"
import { Button } from "../kit/button"
import { Dialog, DialogButtons } from "../kit/dialog"
import { Page } from "../kit/page"
import { useShortcuts } from "../kit/shortcuts"
import { Empty, Failure, Skeleton } from "../kit/states"
import { toast } from "../kit/toast"
import { formatCount, m } from "../messages"
import { useMay } from "../session/session"
import { Confirmations, confirm } from "./confirmations"
import { type Group, groupsOf, neighbour, type SuspectLink } from "./groups"
import { SuspectList } from "./list"
import css from "./page.module.css"
import { suspectLinks, suspicionOf } from "./queries"
import { Sides } from "./sides"

type Taken = { link: SuspectLink; how: "confirmed" | "unlinked" }

export default function SuspectPage() {
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery(suspectLinks)
  const [taken, setTaken] = useState<Taken[]>([])
  const all = useMemo(() => data?.pages.flatMap((page) => page.items as SuspectLink[]) ?? [], [data])
  const links = useMemo(() => {
    const ids = new Set(taken.map(({ link }) => link.id))
    return groupsOf(all.filter(({ id }) => !ids.has(id)))
  }, [all, taken])
  const total = (data?.pages.at(-1)?.total ?? 0) - taken.filter(({ link }) => all.includes(link)).length
  if (error) {
    return (
      <Page title={m.suspect.title}>
        <Failure error={error} retry={() => void refetch()} />
      </Page>
    )
  }
  if (!data) {
    return (
      <Page title={m.suspect.title}>
        <Skeleton />
      </Page>
    )
  }
  if (links.length === 0 && !hasNextPage) {
    return (
      <Page title={m.suspect.title}>
        <Empty title={taken.length > 0 ? m.suspect.allDone : m.suspect.none} hint={m.suspect.noneHint} />
      </Page>
    )
  }
  return (
    <Page title={m.suspect.title} fill actions={<span>{m.suspect.count(formatCount(total))}</span>}>
      <Worklist
        groups={links}
        taken={taken}
        setTaken={setTaken}
        more={hasNextPage && !isFetchingNextPage ? () => void fetchNextPage() : undefined}
      />
    </Page>
  )
}

type WorklistProps = {
  groups: Group[]
  taken: Taken[]
  setTaken: (change: (taken: Taken[]) => Taken[]) => void
  more: (() => void) | undefined
}

function Worklist({ groups, taken, setTaken, more }: WorklistProps) {
  const links = useMemo(() => groups.flatMap((group) => group.links), [groups])
  const [chosen, setChosen] = useState<string>()
  const current = links.find(({ id }) => id === chosen) ?? links[0]
  const [asking, setAsking] = useState<"unlink" | Group>()
  const [confirmations] = useState(() => new Confirmations())
  const may = useMay("reviewer")
  const [, go] = useLocation()
  const queries = useQueryClient()
  const suspicion = useQuery({ ...suspicionOf(current?.id ?? ""), enabled: current !== undefined })
  useEffect(() => () => confirmations.end(), [confirmations])

  function take(link: SuspectLink, how: Taken["how"]) {
    setChosen(neighbour(links, link.id))
    setTaken((before) => [...before, { link, how }])
  }
  function putBack(id: string, why?: string) {
    setTaken((before) => before.filter(({ link }) => link.id !== id))
    setChosen(id)
    if (why) toast(why, { isError: true })
    void queries.invalidateQueries({ queryKey: ["links"] })
  }
  function confirmCurrent() {
    if (!current || suspicion.data?.link.id !== current.id) return
    const { id } = current
    confirmations.add(id, suspicion.data.etag, (problem) => putBack(id, sentence(problem)))
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
      await unwrap(
        api.DELETE("/api/v1/links/{link_id}", {
          params: { path: { link_id: link.id } },
          headers: suspicion.data ? { "if-match": suspicion.data.etag } : {},
        }),
      )
      toast(m.suspect.unlinked, { undo: () => void linkAgain(link) })
    } catch (problem) {
      putBack(link.id, sentence(problem))
    }
  }
  async function linkAgain({ id, requirement_id, test_case_id, link_type, notes }: SuspectLink) {
    try {
      await unwrap(api.POST("/api/v1/links", { body: { requirement_id, test_case_id, link_type, notes } }))
      setTaken((before) => before.filter(({ link }) => link.id !== id))
      void queries.invalidateQueries({ queryKey: ["links"] })
    } catch (problem) {
      toast(sentence(problem), { isError: true })
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
        toast(sentence(problem), { isError: true })
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
        {suspicion.error ? <Failure error={suspicion.error} retry={() => void suspicion.refetch()} /> : null}
        {suspicion.data && suspicion.data.link.id === current?.id ? (
          <Sides {...suspicion.data} />
        ) : (
          !suspicion.error && <Skeleton rows={6} />
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
      <Dialog
        role="alertdialog"
        title={m.suspect.unlinkTitle}
        isOpen={asking === "unlink"}
        onClose={() => setAsking(undefined)}
      >
        <p>{m.suspect.unlinkHint}</p>
        <DialogButtons>
          <Button onPress={() => setAsking(undefined)}>{m.common.cancel}</Button>
          <Button look="danger" autoFocus onPress={() => current && void unlink(current)}>
            {m.suspect.unlink}
          </Button>
        </DialogButtons>
      </Dialog>
      <ConfirmAll
        group={typeof asking === "object" ? asking : undefined}
        close={() => setAsking(undefined)}
        run={confirmAll}
      />
    </div>
  )
}

function ConfirmAll({ group, close, run }: { group?: Group; close: () => void; run: (group: Group) => void }) {
  return (
    <Dialog role="alertdialog" title={m.suspect.confirmAllTitle} isOpen={group !== undefined} onClose={close}>
      <p>{group && m.suspect.confirmAllHint(group.links.length, group.item.external_id ?? group.item.title)}</p>
      <DialogButtons>
        <Button onPress={close}>{m.common.cancel}</Button>
        <Button look="primary" autoFocus onPress={() => group && run(group)}>
          {m.suspect.confirmAll(group?.links.length ?? 0)}
        </Button>
      </DialogButtons>
    </Dialog>
  )
}

function sentence(problem: unknown): string {
  if (!(problem instanceof ApiProblem)) return m.common.failed
  if (problem.status === 412) return m.suspect.changedAgain
  if (problem.status === 404) return m.suspect.gone
  return problem.message || m.common.unreachable
}
