import { type FormEvent, type ReactNode, useState } from "react"
import { Button } from "../kit/button"
import { Field } from "../kit/field"
import { Filter } from "../kit/filter"
import { Popover } from "../kit/popover"
import { m } from "../messages"
import { parseAlternatives, writeAlternatives } from "../url"
import css from "./admin.module.css"
import type { AuditUrl } from "./audit-query"

const words = m.admin.audit
const FAILED_LOGINS = "user.login_failed"
const CLOSED = {
  action: { label: words.action, values: words.actions as Record<string, string> },
  resource_type: { label: words.resource, values: words.resources as Record<string, string> },
}

type Props = { url: AuditUrl; setUrl: (change: Partial<AuditUrl>) => void; children: ReactNode }

/** What the audit log can be narrowed by. */
export function AuditFilters({ url, setUrl, children }: Props) {
  const [open, setOpen] = useState<string>()
  const isFailedLogins = url.action === FAILED_LOGINS
  const layer = (name: string) => ({
    isOpen: open === name,
    onOpenChange: (isOpen: boolean) => setOpen((before) => (isOpen ? name : before === name ? undefined : before)),
  })
  const closed = (name: keyof typeof CLOSED) => (
    <Filter
      label={CLOSED[name].label}
      chosen={parseAlternatives(url[name])}
      onChange={(chosen) => setUrl({ [name]: writeAlternatives(chosen) })}
      options={Object.entries(CLOSED[name].values).map(([value, label]) => ({ value, label }))}
      labelOf={(value) => CLOSED[name].values[value] ?? value}
      {...layer(name)}
    />
  )
  return (
    <search className={css.filters} aria-label={words.filters}>
      <Written label={words.actor} of={{ actor: words.actorHint }} url={url} setUrl={setUrl} {...layer("actor")} />
      {closed("action")}
      {closed("resource_type")}
      <Written label={words.resourceId} of={{ resource_id: words.idHint }} url={url} setUrl={setUrl} {...layer("id")} />
      <Written
        label={words.when}
        type="date"
        of={{ since: words.since, until: words.until }}
        url={url}
        setUrl={setUrl}
        {...layer("when")}
      />
      <Button
        look={isFailedLogins ? "plain" : "quiet"}
        aria-pressed={isFailedLogins}
        onPress={() => setUrl({ action: isFailedLogins ? undefined : FAILED_LOGINS })}
      >
        {words.failedLogins}
      </Button>
      {children}
    </search>
  )
}

type WrittenProps = Omit<Props, "children"> & {
  label: string
  type?: "text" | "date"
  /** The members of the address that are written here, each with the label of its field. */
  of: Partial<AuditUrl>
  isOpen: boolean
  onOpenChange: (isOpen: boolean) => void
}

/** A filter that is written and not chosen: it narrows by Enter, or when its layer closes. */
function Written({ label, type = "text", of, url, setUrl, isOpen, onOpenChange }: WrittenProps) {
  const names = Object.keys(of) as (keyof AuditUrl)[]
  const [typed, setTyped] = useState<Partial<AuditUrl>>({})
  const said = names.map((name) => url[name]).filter(Boolean)
  function toggle(opens: boolean) {
    if (opens === isOpen) return
    if (opens) setTyped(Object.fromEntries(names.map((name) => [name, url[name] ?? ""])))
    else setUrl(Object.fromEntries(names.map((name) => [name, typed[name]?.trim()])))
    onOpenChange(opens)
  }
  function submit(event: FormEvent) {
    event.preventDefault()
    toggle(false)
  }
  return (
    <Popover
      label={label}
      isChosen={said.length > 0}
      isOpen={isOpen}
      onOpenChange={toggle}
      button={
        <>
          <span>{said.length > 0 ? `${label}: ${names.map((name) => url[name] ?? "").join(" – ")}` : label}</span>
          <span aria-hidden="true">▾</span>
        </>
      }
    >
      <form className={css.written} onSubmit={submit}>
        {names.map((name) => (
          <Field
            key={name}
            label={of[name] ?? label}
            type={type}
            value={typed[name] ?? ""}
            onChange={(value) => setTyped((before) => ({ ...before, [name]: value }))}
          />
        ))}
        <Button type="submit">{words.apply}</Button>
      </form>
    </Popover>
  )
}
