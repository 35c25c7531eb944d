import { localised } from "../messages"
import { admin } from "../messages/en/admin"

/** What the screens of admins show, loaded with them. */
export const texts = localised(admin)
