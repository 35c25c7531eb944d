import { Field } from "../kit/field"
import { optionsOf } from "../kit/filter"
import { Select } from "../kit/select"
import { useMay } from "../session/session"
import type { Options } from "./api"
import css from "./exchange.module.css"
import { words as exchange } from "./words"

const words = exchange.options
const TEXTS = [
  { name: "source_system", label: words.source_system, hint: words.source_systemHint },
  { name: "assign_external_id", label: words.external_id, hint: words.external_idHint },
]
const CHOICES = ["mode", "on_conflict", "deleted", "links", "missing"] as const

type Props = {
  options: Options
  change: (options: Options) => void
  /** Whether the file is an export of Traceline, which alone can be restored. */
  isNative: boolean
}

/** What an import does where the file and the record differ. An option that is left out is as the API has it. */
export function OptionFields({ options, change, isNative }: Props) {
  const mayRestore = useMay("admin") && isNative
  const set = (name: string, value: string) => {
    const { [name]: _, ...others } = options
    change(value ? { ...others, [name]: value } : others)
  }
  const labels = (name: (typeof CHOICES)[number]) => {
    const { restore, ...others }: Record<string, string> = words[name].values
    return restore && mayRestore ? { ...others, restore } : others
  }
  const { missing = "keep", scope = "" } = options
  const [field = "source_system", value = ""] = scope.split(/:(.*)/s)
  return (
    <details className={css.options}>
      <summary>{words.title}</summary>
      <div className={css.grid}>
        {CHOICES.map((name) => {
          const [usual = ""] = Object.keys(words[name].values)
          return (
            <Select
              key={name}
              label={words[name].label}
              value={options[name] ?? usual}
              options={optionsOf(labels(name))}
              onChange={(next) => set(name, next === usual ? "" : next)}
            />
          )
        })}
        {missing !== "keep" && (
          <>
            <Select
              label={words.scopeField}
              value={field}
              options={optionsOf<string>(words.scopeFields)}
              onChange={(next) => set("scope", `${next}:${value}`)}
            />
            <Field label={words.scope} value={value} onChange={(next) => set("scope", `${field}:${next}`)} />
          </>
        )}
        {missing === "delete" && (
          <Field
            label={words.max}
            hint={words.maxHint}
            inputMode="numeric"
            value={options.max_deletions ?? ""}
            onChange={(next) => set("max_deletions", next.replace(/\D/g, ""))}
          />
        )}
        {TEXTS.map(({ name, ...field }) => (
          <Field key={name} {...field} value={options[name] ?? ""} onChange={(next) => set(name, next)} />
        ))}
      </div>
      <label>
        <input
          type="checkbox"
          checked={options.adopt === "true"}
          onChange={({ target }) => set("adopt", target.checked ? "true" : "")}
        />{" "}
        {words.adopt}
      </label>
      <label>
        <input
          type="checkbox"
          checked={options.suggest !== "false"}
          onChange={({ target }) => set("suggest", target.checked ? "" : "false")}
        />{" "}
        {words.suggest}
      </label>
      {missing === "delete" && <p className={css.warning}>▲ {words.deleteHint}</p>}
      {options.mode === "restore" && <p className={css.warning}>▲ {words.restoreHint}</p>}
    </details>
  )
}
