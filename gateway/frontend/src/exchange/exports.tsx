import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import * as v from "valibot"
import { Button } from "../kit/button"
import { Choice } from "../kit/choice"
import { Page } from "../kit/page"
import { Select } from "../kit/select"
import { m } from "../messages"
import type { ExportFormat } from "../messages/en/exchange"
import { addressed } from "../projects/address"
import { ReportLinks } from "../results/pieces"
import { words as results } from "../results/words"
import { parseAlternatives, useUrl } from "../url"
import { exportFormats, lostIn } from "./api"
import css from "./exchange.module.css"
import { words as exchange } from "./words"

const words = exchange.export
const FORMATS = Object.keys(words.formats) as ExportFormat[]
const text = v.optional(v.string())
/** The formats that tables for other tools have. */
const TABLES: readonly ExportFormat[] = ["csv", "xlsx"]
const KINDS = ["all", "requirements", "test_cases", "links"] as const
const FILTERS = [
  "search",
  "module",
  "status",
  "type",
  "priority",
  "tag",
  "automation_status",
  "coverage",
  "linked",
  "verdict",
] as const
const NAMES = { ...m.items.facets, search: m.shell.find } as Record<string, string>
const URL_FIELDS = {
  kind: v.optional(v.picklist(KINDS), "all"),
  ...(Object.fromEntries(FILTERS.map((name) => [name, text])) as Record<(typeof FILTERS)[number], typeof text>),
}

/** The record, or what a list shows of it, as a file. */
export default function ExportsPage() {
  const [{ kind, ...filters }, setUrl] = useUrl(URL_FIELDS)
  const [format, setFormat] = useState<ExportFormat>("xlsx")
  const [profile, setProfile] = useState<"native" | "plain">("native")
  const [hasLinks, setLinks] = useState(true)
  const [chosen, setTool] = useState("")
  const presets = (useQuery(exportFormats).data?.presets ?? []).filter((preset) => fits(preset, kind))
  const tool = TABLES.includes(format) && presets.some(({ name }) => name === chosen) ? chosen : ""
  const used = FILTERS.filter((name) => filters[name])
  const query = new URLSearchParams({
    format,
    ...(tool ? { mapping: tool } : { kind, profile, links: String(hasLinks) }),
    ...Object.fromEntries(used.map((name) => [name, filters[name] ?? ""])),
  })
  const address = addressed(`/api/v1/exports?${query}`)
  const lost = useQuery({ ...lostIn(address), enabled: tool !== "" }).data
  return (
    <Page title={words.title}>
      <div className={css.export}>
        <section className={css.part}>
          <h2>{words.what}</h2>
          <Choice
            label={words.what}
            value={kind}
            options={KINDS.map((value) => ({
              value,
              label: value === "all" ? words.all : (exchange.kinds[value] ?? ""),
            }))}
            onChange={(next) => setUrl({ kind: next })}
          />
          {used.length > 0 && (
            <>
              <p>{words.narrowed}</p>
              <ul className={css.chips}>
                {used.map((name) => (
                  <li key={name}>
                    {NAMES[name]}: {shown(filters[name])}
                  </li>
                ))}
              </ul>
              <div>
                <Button look="quiet" onPress={() => setUrl(Object.fromEntries(used.map((name) => [name, undefined])))}>
                  {words.everything}
                </Button>
              </div>
            </>
          )}
        </section>
        <fieldset className={css.part}>
          <legend>{words.format}</legend>
          {FORMATS.map((name) => (
            <label key={name} className={css.format}>
              <input type="radio" name="format" checked={name === format} onChange={() => setFormat(name)} />
              <span>{words.formats[name].name}</span>
              <span className={css.quiet}>{words.formats[name].hint}</span>
            </label>
          ))}
        </fieldset>
        {TABLES.includes(format) && (
          <div className={css.part}>
            <Select
              label={words.tool}
              value={tool}
              options={[
                { value: "", label: words.noTool },
                ...presets.map(({ name, label }) => ({ value: name, label })),
              ]}
              onChange={setTool}
            />
            {tool && lost && <p role="status">{lost}</p>}
          </div>
        )}
        {!tool && (
          <fieldset className={css.part}>
            <legend>{words.profile}</legend>
            {(["native", "plain"] as const).map((value) => (
              <label key={value}>
                <input type="radio" name="profile" checked={value === profile} onChange={() => setProfile(value)} />{" "}
                {words.profiles[value]}
              </label>
            ))}
          </fieldset>
        )}
        {!tool && (
          <label>
            <input type="checkbox" checked={hasLinks} onChange={({ target }) => setLinks(target.checked)} />{" "}
            {words.links}
          </label>
        )}
        <div className={css.start}>
          <a className={css.download} href={address} download>
            {words.download}
          </a>
          <p className={css.quiet}>{words.hint}</p>
        </div>
        <section className={css.part}>
          <h2>{results.downloads}</h2>
          <ReportLinks />
        </section>
      </div>
    </Page>
  )
}

/** Check whether the table of a preset is of what is exported. */
function fits(preset: { name: string; kind: string }, kind: (typeof KINDS)[number]): boolean {
  return kind === "all" || kind === preset.kind
}

function shown(filter: string | undefined): string {
  return parseAlternatives(filter)
    .map(({ value, not }) => `${not ? `${m.common.filter.not} ` : ""}${value || m.items.noValue}`)
    .join(", ")
}
