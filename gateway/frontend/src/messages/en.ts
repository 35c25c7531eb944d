import { common } from "./en/common"
import { review } from "./en/review"
import { session } from "./en/session"
import { shell } from "./en/shell"

export const en = { common, review, session, shell }
