import { account } from "./en/account"
import { admin } from "./en/admin"
import { common } from "./en/common"
import { dashboard } from "./en/dashboard"
import { exchange } from "./en/exchange"
import { items } from "./en/items"
import { matrix } from "./en/matrix"
import { notifications } from "./en/notifications"
import { review } from "./en/review"
import { session } from "./en/session"
import { shell } from "./en/shell"
import { suspect } from "./en/suspect"

export const en = {
  account,
  admin,
  common,
  dashboard,
  exchange,
  items,
  matrix,
  notifications,
  review,
  session,
  shell,
  suspect,
}
