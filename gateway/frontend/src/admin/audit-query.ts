import * as v from "valibot"

const text = v.optional(v.string())
const day = v.optional(v.pipe(v.string(), v.isoDate()))

/** What the address of the audit log can say: filters as the API reads them, and days of the reader. */
export const AUDIT_URL = {
  actor: text,
  action: text,
  resource_type: text,
  resource_id: text,
  since: day,
  until: day,
}
export type AuditUrl = { [name in keyof typeof AUDIT_URL]: string | undefined }

/** Return the query of the API: from the beginning of the first day to the end of the last. */
export function queryOf({ since, until, ...filters }: AuditUrl): Record<string, string> {
  const moments = { since: since && midnight(since, 0), until: until && midnight(until, 1) }
  const entries = Object.entries({ ...filters, ...moments })
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => Boolean(entry[1])))
}

function midnight(date: string, daysLater: number): string {
  const moment = new Date(`${date}T00:00`)
  moment.setDate(moment.getDate() + daysLater)
  return moment.toISOString()
}
