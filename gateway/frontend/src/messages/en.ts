import { account } from "./en/account"
import { common } from "./en/common"
import { dashboard } from "./en/dashboard"
import { items } from "./en/items"
import { matrix } from "./en/matrix"
import { review } from "./en/review"
import { session } from "./en/session"
import { shell } from "./en/shell"
import { suspect } from "./en/suspect"

export const en = { account, common, dashboard, items, matrix, review, session, shell, suspect }
