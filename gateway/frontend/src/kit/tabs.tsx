import { type KeyboardEvent, type ReactNode, useId } from "react"
import css from "./tabs.module.css"

export type Tab<T extends string> = { id: T; label: string; count?: string; content: () => ReactNode }

/** Parts of a screen of which one is shown; arrows move between them. */
export function Tabs<T extends string>({
  label,
  tabs,
  chosen,
  onChange,
}: {
  label: string
  tabs: Tab<T>[]
  chosen: T
  onChange: (id: T) => void
}) {
  const id = useId()
  const current = tabs.find((tab) => tab.id === chosen) ?? tabs[0]
  function move(event: KeyboardEvent) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (!step || !current) return
    event.preventDefault()
    const direction = getComputedStyle(event.currentTarget).direction === "rtl" ? -step : step
    const next = tabs.at((tabs.indexOf(current) + direction) % tabs.length)
    if (!next) return
    onChange(next.id)
    document.getElementById(`${id}${next.id}`)?.focus()
  }
  return (
    <div className={css.tabs}>
      <div className={css.list} role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`${id}${tab.id}`}
            type="button"
            role="tab"
            aria-selected={tab === current}
            aria-controls={`${id}panel`}
            tabIndex={tab === current ? 0 : -1}
            onClick={() => onChange(tab.id)}
          >
            {tab.label}
            {tab.count && <span className={css.count}>{tab.count}</span>}
          </button>
        ))}
      </div>
      <div id={`${id}panel`} role="tabpanel" aria-labelledby={`${id}${current?.id}`} className={css.panel}>
        {current?.content()}
      </div>
    </div>
  )
}
