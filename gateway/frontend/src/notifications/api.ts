import { type InfiniteData, useQueryClient } from "@tanstack/react-query"
import { api } from "../api/client"
import type { components } from "../api/schema"
import { useEndless } from "../kit/endless"
import { complain, toast } from "../kit/toast"
import { formatCount, m } from "../messages"
import type { Notification } from "./groups"

type Page = components["schemas"]["NotificationList"]
export type Wanted = { type: string | undefined; unread: string | undefined }

const PAGE = 100
const LIST = ["notifications", "list"]

/** Return the caller's notifications, the newest first. */
export function useNotifications({ type, unread }: Wanted) {
  const query = { limit: PAGE, ...typeOf(type), ...(unread && { unread_only: true }) }
  return useEndless<Page>([...LIST, query], (place, signal) =>
    api.get("/api/v1/notifications", { params: { query: { ...query, ...place } }, signal }),
  )
}

/** Return what can be done with notifications; each is shown at once, and put right when the API refuses it. */
export function useNotificationActions() {
  const client = useQueryClient()
  function edit(change: (items: Notification[]) => Notification[]) {
    client.setQueriesData<InfiniteData<Page>>(
      { queryKey: LIST },
      (data) => data && { ...data, pages: data.pages.map((page) => ({ ...page, items: change(page.items) })) },
    )
  }
  async function run<T>(request: Promise<T>): Promise<T | undefined> {
    try {
      return await request
    } catch (error) {
      complain(error)
      return undefined
    } finally {
      void client.invalidateQueries({ queryKey: ["notifications"] })
    }
  }
  const at = (id: number) => ({ params: { path: { notification_id: id } }, keepalive: true })
  return {
    async markRead({ id, read }: Notification) {
      if (read) return
      edit((items) => items.map((item) => (item.id === id ? { ...item, read: true } : item)))
      await run(api.post("/api/v1/notifications/{notification_id}/read", at(id)))
    },
    async markAllRead(type: string | undefined) {
      const query = typeOf(type)
      const answer = await run(api.post("/api/v1/notifications/mark-all-read", { params: { query } }))
      if (answer) toast(m.notifications.marked(formatCount(answer.marked)))
    },
    async remove({ id }: Notification) {
      edit((items) => items.filter((item) => item.id !== id))
      const done = await run(api.delete("/api/v1/notifications/{notification_id}", at(id)).then(() => true))
      if (done) toast(m.notifications.removed)
    },
  }
}

function typeOf(type: string | undefined) {
  return type ? { type: type.split(",") as Notification["type"][] } : {}
}
