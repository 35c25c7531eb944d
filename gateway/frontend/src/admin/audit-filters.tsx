import { type ReactNode, useState } from "react"
import { Button } from "../kit/button"
import { Field } from "../kit/field"
import { Filter, optionsOf } from "../kit/filter"
import { FilterBar } from "../kit/filter-bar"
import { Popover } from "../kit/popover"
import css from "./admin.module.css"
import type { AuditUrl } from "./audit-query"
import { texts } from "./words"

const words = texts.audit
const FAILED_LOGINS = "user.login_failed"
const CLOSED = {
  action: { label: words.action, options: optionsOf(words.actions) },
  resource_type: { label: words.resource, options: optionsOf(words.resources) },
}

type Props = {
  url: AuditUrl
  setUrl: (change: Partial<AuditUrl>) => void
  count: string | undefined
  children: ReactNode
}

/** What the audit log can be narrowed by. */
export function AuditFilters({ url, setUrl, count, children }: Props) {
  const isFailedLogins = url.action === FAILED_LOGINS
  const closed = (name: keyof typeof CLOSED) => (
    <Filter {...CLOSED[name]} value={url[name]} onChange={(value) => setUrl({ [name]: value })} />
  )
  return (
    <FilterBar label={words.filters} count={count}>
      <Written label={words.actor} of={{ actor: words.actorHint }} url={url} setUrl={setUrl} />
      {closed("action")}
      {closed("resource_type")}
      <Written label={words.resourceId} of={{ resource_id: words.idHint }} url={url} setUrl={setUrl} />
      <Written
        label={words.when}
        type="date"
        of={{ since: words.since, until: words.until }}
        url={url}
        setUrl={setUrl}
      />
      <Button
        look={isFailedLogins ? "plain" : "quiet"}
        aria-pressed={isFailedLogins}
        onPress={() => setUrl({ action: isFailedLogins ? undefined : FAILED_LOGINS })}
      >
        {words.failedLogins}
      </Button>
      {children}
    </FilterBar>
  )
}

type WrittenProps = Omit<Props, "count" | "children"> & {
  label: string
  type?: "text" | "date"
  /** The members of the address that are written here, each with the label of its field. */
  of: Partial<AuditUrl>
}

/** A filter that is written and not chosen: it narrows by Enter, or when its layer closes. */
function Written({ label, type = "text", of, url, setUrl }: WrittenProps) {
  const names = Object.keys(of) as (keyof AuditUrl)[]
  const [typed, setTyped] = useState<Partial<AuditUrl>>({})
  const isUsed = names.some((name) => url[name])
  function toggle(opens: boolean) {
    if (opens) setTyped(Object.fromEntries(names.map((name) => [name, url[name] ?? ""])))
    else setUrl(Object.fromEntries(names.map((name) => [name, typed[name]?.trim()])))
  }
  return (
    <Popover
      label={label}
      isChosen={isUsed}
      onOpenChange={toggle}
      button={isUsed ? `${label}: ${names.map((name) => url[name] ?? "").join(" – ")}` : label}
    >
      {(close) => (
        <form
          className={css.written}
          onSubmit={(event) => {
            event.preventDefault()
            close()
          }}
        >
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
      )}
    </Popover>
  )
}
