import { useQuery } from "@tanstack/react-query"
import { useId, useRef, useState } from "react"
import { Link } from "wouter"
import { m } from "../messages"
import layer from "../shell/account-menu.module.css"
import { projectKey } from "./address"
import css from "./menu.module.css"
import { homeOf, openProjects, useProject } from "./queries"

const words = m.projects

/** In which project one is, the way into others, and to what this one is about. */
export default function ProjectMenu() {
  const project = useProject()
  const id = useId()
  const list = useRef<HTMLUListElement>(null)
  const [isAsked, setAsked] = useState(false)
  const { data } = useQuery({ ...openProjects, enabled: isAsked })
  const close = () => list.current?.hidePopover()
  const key = projectKey()
  return (
    <>
      <button type="button" className={layer.button} popoverTarget={id} onClick={() => setAsked(true)}>
        <span className={layer.user}>{project?.name ?? key}</span>
        <span className={layer.role}>
          {project?.archived ? words.archived : words.label} · {key}
        </span>
      </button>
      <ul id={id} ref={list} popover="auto" className={`${layer.layer} ${css.layer}`} aria-label={words.title}>
        {data?.items
          .filter((one) => one.key !== key)
          .map((one) => (
            <li key={one.key}>
              <a href={homeOf(one.key)}>
                {one.name} <span className={layer.role}>{one.key}</span>
              </a>
            </li>
          ))}
        <li>
          <Link href="/projects" onClick={close}>
            {words.all}
          </Link>
        </li>
        {project?.role === "admin" && (
          <li>
            <Link href="/settings" onClick={close}>
              {words.settings}
            </Link>
          </li>
        )}
      </ul>
    </>
  )
}
