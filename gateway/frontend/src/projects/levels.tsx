import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { client, withEtag } from "../api/client"
import type { components } from "../api/schema"
import { Button } from "../kit/button"
import { Field } from "../kit/field"
import { useForm } from "../kit/form"
import { NotYet } from "../kit/states"
import { toast } from "../kit/toast"
import form from "../session/account.module.css"
import css from "./fields.module.css"
import { keyOf } from "./keys"
import { words as screens } from "./words"

type Level = Required<components["schemas"]["Level"]>
/** A level as the form has it: `place` keeps it apart from others, `isNew` whether its key can still be chosen. */
type Draft = Level & { place: number; isNew: boolean }

const words = screens.settings
const PROBLEMS = { 412: words.levelsMeanwhile }
const KEY = ["levels"]
const NEEDS = Object.keys(words.levelNeeds) as Level["needs"]
const MOST = 8

/** The levels of requirements of the project, for its admins to define. */
export function LevelsOfProject() {
  const read = useQuery({
    queryKey: KEY,
    queryFn: async ({ signal }) => {
      const { data, etag } = await withEtag(client.GET("/api/v1/levels", { signal }))
      return { levels: data.levels as Level[], etag }
    },
  })
  return (
    <section>
      <h2>{words.levels}</h2>
      <p className={form.quiet}>{words.levelsAbout}</p>
      <NotYet query={read} rows={2} />
      {read.data && <Editor key={read.data.etag} {...read.data} />}
    </section>
  )
}

function Editor({ levels: stored, etag }: { levels: Level[]; etag: string }) {
  const [drafts, setDrafts] = useState(() => stored.map((level, place): Draft => ({ ...level, place, isNew: false })))
  const queries = useQueryClient()
  const { isSending, fields, failure, onSubmit } = useForm(async () => {
    const body = { levels: drafts.map(({ key, name, needs }) => ({ key, name, needs })) }
    await withEtag(client.PUT("/api/v1/levels", { params: { header: { "If-Match": etag } }, body }))
    await queries.invalidateQueries({ queryKey: KEY })
    toast(words.saved)
  }, PROBLEMS)
  const change = (place: number, said: Partial<Draft>) =>
    setDrafts(drafts.map((draft) => (draft.place === place ? { ...draft, ...said } : draft)))
  const add = () => {
    const place = Math.max(-1, ...drafts.map((draft) => draft.place)) + 1
    setDrafts([...drafts, { place, isNew: true, key: "", name: "", needs: [] }])
  }
  const raise = (at: number) => setDrafts(drafts.toSpliced(at - 1, 2, ...drafts.slice(at - 1, at + 1).reverse()))
  return (
    <form className={form.form} onSubmit={onSubmit} noValidate>
      <ol className={css.fields}>
        {drafts.map((draft, at) => (
          <li key={draft.place}>
            <OneLevel
              draft={draft}
              error={(name) => fields[`/levels/${at}/${name}`]}
              change={(said) => change(draft.place, said)}
              raise={at > 0 ? () => raise(at) : undefined}
              remove={() => setDrafts(drafts.filter(({ place }) => place !== draft.place))}
            />
          </li>
        ))}
      </ol>
      {failure ?? (Object.keys(fields).length > 0 && <p role="alert">{Object.values(fields)[0]}</p>)}
      <div className={css.buttons}>
        <Button onPress={add} isDisabled={drafts.length >= MOST}>
          {words.addLevel}
        </Button>
        <Button type="submit" isDisabled={isSending}>
          {words.save}
        </Button>
      </div>
    </form>
  )
}

type OneProps = {
  draft: Draft
  error: (name: string) => string | undefined
  change: (said: Partial<Draft>) => void
  raise: (() => void) | undefined
  remove: () => void
}

function OneLevel({ draft, error, change, raise, remove }: OneProps) {
  const { key, name, needs, isNew } = draft
  const told = (field: string) => {
    const message = error(field)
    return message === undefined ? {} : { error: message }
  }
  const shown = name || key
  return (
    <fieldset className={css.field}>
      <legend className="visually-hidden">{shown || words.addLevel}</legend>
      <Field
        label={words.levelName}
        value={name}
        onChange={(said) => change(isNew ? { name: said, key: keyOf(said) } : { name: said })}
        isRequired
        maxLength={100}
        {...told("name")}
      />
      <Field
        label={words.levelKey}
        value={key}
        onChange={(said) => change({ key: said })}
        isDisabled={!isNew}
        maxLength={40}
        {...told("key")}
      />
      <div className={css.switches}>
        {NEEDS.map((need) => (
          <label key={need}>
            <input
              type="checkbox"
              checked={needs.includes(need)}
              onChange={() => change({ needs: NEEDS.filter((one) => needs.includes(one) !== (one === need)) })}
            />{" "}
            {words.levelNeeds[need]}
          </label>
        ))}
      </div>
      <div className={css.buttons}>
        {raise && (
          <Button look="quiet" onPress={raise}>
            {words.raiseLevel(shown)}
          </Button>
        )}
        <Button look="quiet" onPress={remove}>
          {words.removeLevel(shown)}
        </Button>
      </div>
    </fieldset>
  )
}
