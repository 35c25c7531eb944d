import type { en } from "./en"

/** Every text of the page: a string, or a function of what it speaks of. */
export type Messages = typeof en
