import { useQueryClient } from "@tanstack/react-query"
import { Fragment, useState } from "react"
import { Link } from "wouter"
import { api } from "../api/client"
import type { components } from "../api/schema"
import { More } from "../items/rows"
import { Button } from "../kit/button"
import { useEndless } from "../kit/endless"
import { Field } from "../kit/field"
import { Ask } from "../kit/form"
import { Page } from "../kit/page"
import { Empty, NotYet } from "../kit/states"
import { complain, toast } from "../kit/toast"
import { useMay } from "../session/session"
import { headingsBefore, titlesOf } from "./chapters"
import css from "./outline.module.css"
import { words } from "./words"

type Schemas = components["schemas"]
type Requirement = Schemas["ListedRequirement"]
type Move = Schemas["Move"]

const LIMIT = 100
const KEY = ["requirements", "rows", "outline"]
const PROBLEMS = { moved_since: words.movedSince }
const DEEPEST_HEADING = 6

/** The requirements of the project as a document: chapters, and what is in them, in order. */
export default function OutlinePage() {
  const list = useEndless(KEY, ({ after }, signal) => {
    const query = { sort: "position" as const, limit: LIMIT, ...(after && { after }) }
    return api.get("/api/v1/requirements", { params: { query }, signal })
  })
  const rows = list.rows as Requirement[] | undefined
  const mayMove = useMay("reviewer")
  const [placing, setPlacing] = useState<Requirement>()
  const move = useMove()
  return (
    <Page title={words.title}>
      <p className={css.about}>{words.about}</p>
      <NotYet query={list.query} rows={6} />
      {rows?.length === 0 && <Empty title={words.none} hint={words.noneHint} />}
      <div className={css.document}>
        {rows?.map((row, at) => (
          <Fragment key={row.id}>
            {headingsBefore(row.section, rows[at - 1]?.section).map(({ title, depth }) => (
              <Title key={`${depth} ${title}`} depth={depth}>
                {title}
              </Title>
            ))}
            <Entry
              row={row}
              actions={
                mayMove && (
                  <Actions
                    row={row}
                    before={rows[at - 1]}
                    after={rows[at + 1]}
                    move={(body) => void move(body).catch((error) => complain(error, PROBLEMS))}
                    place={() => setPlacing(row)}
                  />
                )
              }
            />
          </Fragment>
        ))}
      </div>
      <More list={list} />
      {placing && <Place row={placing} move={move} close={() => setPlacing(undefined)} />}
    </Page>
  )
}

/** Return what moves requirements, says so, and takes it back. */
function useMove() {
  const queries = useQueryClient()
  const send = async (body: Move) => {
    const { undo } = await api.post("/api/v1/requirements/move", { body })
    await queries.invalidateQueries({ queryKey: KEY })
    return undo
  }
  return async (body: Move) => {
    const undo = await send(body)
    toast(words.moved, { undo: () => send(undo).catch((error) => complain(error, PROBLEMS)) })
  }
}

function Title({ depth, children }: { depth: number; children: string }) {
  const Heading = `h${Math.min(depth + 2, DEEPEST_HEADING)}` as "h2"
  return <Heading className={css.chapter}>{children}</Heading>
}

function Entry({ row, actions }: { row: Requirement; actions: React.ReactNode }) {
  const { id, external_id, title, description, status, level, derived, rationale, section } = row
  const Heading = `h${Math.min(section.length + 2, DEEPEST_HEADING)}` as "h2"
  return (
    <article className={css.entry} aria-label={external_id ?? title}>
      <div className={css.text}>
        <Heading className={css.title}>
          <Link href={`/requirements/${id}`}>
            {external_id && <span className={css.id}>{external_id}</span>} {title}
          </Link>
        </Heading>
        {description !== title && <p className={css.prose}>{description}</p>}
        {rationale && <p className={css.why}>{words.rationale(rationale)}</p>}
      </div>
      <div className={css.margin}>
        <span>{[status, level, derived && words.derived].filter(Boolean).join(" · ")}</span>
        {actions}
      </div>
    </article>
  )
}

type ActionsProps = {
  row: Requirement
  before: Requirement | undefined
  after: Requirement | undefined
  move: (body: Move) => void
  place: () => void
}

function Actions({ row, before, after, move, place }: ActionsProps) {
  const name = row.external_id ?? row.title
  const ids = [row.id]
  return (
    <span className={css.actions}>
      <Button
        look="quiet"
        aria-label={words.upOf(name)}
        isDisabled={!before}
        onPress={() => before && move({ ids, before: before.id })}
      >
        {words.up}
      </Button>
      <Button
        look="quiet"
        aria-label={words.downOf(name)}
        isDisabled={!after}
        onPress={() => after && move({ ids, after: after.id })}
      >
        {words.down}
      </Button>
      <Button look="quiet" aria-label={words.chapterOf(name)} onPress={place}>
        {words.chapter}
      </Button>
    </span>
  )
}

function Place({ row, move, close }: { row: Requirement; move: (body: Move) => Promise<void>; close: () => void }) {
  const [text, setText] = useState(row.section.join("\n"))
  return (
    <Ask
      title={words.chapterOf(row.external_id ?? row.title)}
      action={words.put}
      run={async () => {
        await move({ ids: [row.id], section: titlesOf(text) })
        close()
      }}
      known={PROBLEMS}
      close={close}
    >
      {(errors) => (
        <Field
          label={words.chapters}
          hint={words.chaptersHint}
          lines={4}
          value={text}
          error={Object.values(errors).join(" ") || undefined}
          onChange={setText}
        />
      )}
    </Ask>
  )
}
