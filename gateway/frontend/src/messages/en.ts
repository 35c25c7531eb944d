import { common } from "./en/common"
import { fields } from "./en/fields"
import { items } from "./en/items"
import { matrix } from "./en/matrix"
import { notifications } from "./en/notifications"
import { projects } from "./en/projects"
import { review } from "./en/review"
import { session } from "./en/session"
import { shell } from "./en/shell"
import { suspect } from "./en/suspect"

export const en = {
  common,
  fields,
  items,
  matrix,
  notifications,
  projects,
  review,
  session,
  shell,
  suspect,
}
