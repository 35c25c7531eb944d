import type { ReactNode } from "react"
import { Page } from "../kit/page"
import { Empty } from "../kit/states"
import { m } from "../messages"
import { useMay } from "../session/session"

/** A screen that admins see; others read why they do not. */
export function AdminOnly({ title, children }: { title: string; children: ReactNode }) {
  if (useMay("admin")) return children
  return (
    <Page title={title}>
      <Empty title={m.admin.only} hint={m.common.notAllowed} />
    </Page>
  )
}
