import type { ReactNode } from "react"
import { Page } from "../kit/page"
import { Empty } from "../kit/states"
import { m } from "../messages"
import { useMay, useUser } from "../session/session"
import { texts } from "./words"

type Props = { title: string; children: ReactNode; ofAll?: boolean }

/** A screen that admins see, those of the project or those `ofAll`; others read why they do not. */
export function AdminOnly({ title, children, ofAll }: Props) {
  const isAdmin = useUser().role === "admin"
  const isAdminHere = useMay("admin")
  if (ofAll ? isAdmin : isAdminHere) return children
  return (
    <Page title={title}>
      <Empty title={texts.only} hint={m.common.notAllowed} />
    </Page>
  )
}
