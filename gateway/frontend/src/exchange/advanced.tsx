import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { Button } from "../kit/button"
import { Field } from "../kit/field"
import { optionsOf } from "../kit/filter"
import { Ask, useFields } from "../kit/form"
import { Select } from "../kit/select"
import { complain, toast } from "../kit/toast"
import { m } from "../messages"
import { removeMapping, savedMappings, saveMapping } from "./api"
import css from "./exchange.module.css"
import type { AnyMapping, Mapping } from "./mapping"
import type { SetupState } from "./use-setup"
import { words as exchange } from "./words"

const words = exchange.advanced
const PROPOSED = "(proposed)"
const OWN = "(own)"

/** What few people need: how the text of a file is read, settings of before, and all of them as JSON. */
export function Advanced({ setup, sheet }: { setup: SetupState; sheet: string | null }) {
  const { data, current, options } = setup
  const [open, setOpen] = useState<"text" | "save">()
  const set = (name: string, value: string) => {
    const { [name]: _, ...others } = options
    void setup.setReading(value ? { ...others, [name]: value } : others).catch(() => {})
  }
  const isText = data ? data.encoding !== null : true
  return (
    <details className={css.options}>
      <summary>{words.title}</summary>
      <div className={css.line}>
        {data?.dialect && (
          <Select
            label={exchange.recognised.delimiter}
            value={String(data.dialect.delimiter)}
            options={optionsOf(exchange.recognised.delimiters)}
            onChange={(delimiter) => set("delimiter", delimiter)}
          />
        )}
        {isText && (
          <Field
            label={exchange.recognised.encoding}
            hint={words.encodingHint}
            placeholder={data?.encoding ?? ""}
            value={options.encoding ?? ""}
            onChange={(encoding) => set("encoding", encoding)}
          />
        )}
      </div>
      {current && (
        <div className={css.line}>
          <Saved setup={setup} current={current} sheet={sheet} />
          <Button look="quiet" onPress={() => setOpen("save")}>
            {words.save}
          </Button>
          <Button look="quiet" onPress={() => setOpen("text")}>
            {words.asText}
          </Button>
        </div>
      )}
      {open === "text" && current && (
        <AsText mapping={current} take={(taken) => setup.readBy(taken, sheet)} close={() => setOpen(undefined)} />
      )}
      {open === "save" && current && <Save mapping={current} close={() => setOpen(undefined)} />}
    </details>
  )
}

type SavedProps = { setup: SetupState; current: Mapping; sheet: string | null }

/** Settings that were saved, and what was proposed. */
function Saved({ setup, current: mapping, sheet }: SavedProps) {
  const { data } = useQuery(savedMappings)
  const client = useQueryClient()
  const isOwn = setup.mapping !== undefined
  const text = JSON.stringify(mapping)
  const current = isOwn ? data?.items.find((one) => JSON.stringify(one.mapping) === text) : undefined
  function choose(id: string) {
    if (id === PROPOSED) setup.reset()
    if (id in words.presets) void setup.readAs(id).catch(complain)
    const chosen = data?.items.find((one) => one.id === id)
    if (chosen) setup.readBy(chosen.mapping as unknown as AnyMapping, sheet)
  }
  async function remove() {
    if (!current) return
    await removeMapping(current.id, current.etag)
    toast(words.removed(current.name))
    void client.invalidateQueries({ queryKey: savedMappings.queryKey })
  }
  return (
    <>
      <Select
        label={words.use}
        value={current?.id ?? (isOwn ? OWN : PROPOSED)}
        options={[
          { value: PROPOSED, label: words.proposed },
          ...(isOwn && !current ? [{ value: OWN, label: words.own }] : []),
          ...(data?.items ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ...optionsOf(words.presets).map(({ value, label }) => ({ value, label: words.exportOf(label) })),
        ]}
        onChange={choose}
      />
      {current && (
        <Button look="quiet" onPress={() => void remove().catch(complain)}>
          {words.remove}
        </Button>
      )}
    </>
  )
}

function Save({ mapping, close }: { mapping: Mapping; close: () => void }) {
  const { values, of } = useFields({ name: "" })
  const name = values.name.trim()
  const client = useQueryClient()
  async function save() {
    await saveMapping(name, mapping)
    toast(words.saved(name))
    void client.invalidateQueries({ queryKey: savedMappings.queryKey })
    close()
  }
  return (
    <Ask title={words.save} action={m.common.save} run={save} close={close} isReady={name !== ""}>
      {(errors) => <Field label={words.name} autoFocus maxLength={100} {...of("name", errors)} />}
    </Ask>
  )
}

function AsText({ mapping, take, close }: { mapping: Mapping; take: (to: AnyMapping) => void; close: () => void }) {
  const [text, setText] = useState(() => JSON.stringify(mapping, undefined, 2))
  const [error, setError] = useState<string>()
  function run() {
    try {
      take(JSON.parse(text))
      close()
    } catch {
      setError(words.notJson)
    }
  }
  return (
    <Ask title={words.asText} action={words.take} run={run} close={close} wide>
      <Field
        label={words.asText}
        hideLabel
        hint={words.asTextHint}
        lines={18}
        value={text}
        onChange={setText}
        error={error}
        autoFocus
      />
    </Ask>
  )
}
