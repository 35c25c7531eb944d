import { common } from "./en/common"
import { session } from "./en/session"
import { shell } from "./en/shell"

export const en = { common, session, shell }
