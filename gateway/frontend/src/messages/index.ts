import { en } from "./en"
import { pseudo } from "./pseudo"
import type { Messages } from "./types"

const asked = localStorage.getItem("traceline.locale") ?? "en"

/** Return the texts of a screen, which may be loaded later than those of the page, in the language of this browser. */
export function localised<T>(texts: T): T {
  return asked === "pseudo" || asked === "pseudo-rtl" ? pseudo(texts) : texts
}

/** The texts of the page, in the language of this browser. */
export const m: Messages = localised(en)
document.documentElement.dir = asked === "pseudo-rtl" ? "rtl" : "ltr"

const locale = document.documentElement.lang
const counted = new Intl.NumberFormat(locale)
const share = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 })
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" })
const absolute = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" })
const day = new Intl.DateTimeFormat(locale, { month: "short", day: "numeric", timeZone: "UTC" })
const longDay = new Intl.DateTimeFormat(locale, { dateStyle: "full" })
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
]

const ERASED = /\berased-(\d+)@erased\.invalid\b/g

/** Return a text with erased people as such, and not by the address that stands for them and leads nowhere. */
export const people = (text: string): string => text.replaceAll(ERASED, (_, id: string) => m.common.erased(id))
/** Return a text that begins a line or a sentence. */
export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
/** Return a number with its separators of thousands. */
export const formatCount = (value: number): string => counted.format(value)
/** Return a share of 0 to 1 in percent: what is less than all never looks as if it were all. */
export const formatShare = (value: number): string => share.format(value < 1 ? Math.min(value, 0.99) : value)
/** Return a score with its two decimals. */
export const formatScore = (value: number): string => value.toFixed(2)
/** Return a day of the UTC calendar. */
export const formatDay = (iso: string): string => day.format(new Date(iso))
/** Return a moment in full, in the time zone of the reader. */
export const formatMoment = (iso: string): string => absolute.format(new Date(iso))

/** Return the day of a moment in full, in the time zone of the reader. */
export function formatLongDay(iso: string, now = new Date()): string {
  const that = new Date(iso)
  const days = Math.round((new Date(that).setHours(12, 0, 0, 0) - new Date(now).setHours(12, 0, 0, 0)) / 86_400_000)
  return days === 0 || days === -1 ? relative.format(days, "day") : longDay.format(that)
}

/** Return how long ago a moment was. */
export function formatAgo(iso: string, now = Date.now()): string {
  const seconds = (Date.parse(iso) - now) / 1000
  const unit = UNITS.find(([, length]) => Math.abs(seconds) >= length)
  return unit ? relative.format(Math.round(seconds / unit[1]), unit[0]) : relative.format(0, "second")
}
