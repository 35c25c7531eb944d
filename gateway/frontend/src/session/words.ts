import { localised } from "../messages"
import { account } from "../messages/en/account"

/** What the screens about one's account show, loaded with them. */
export const texts = localised(account)
