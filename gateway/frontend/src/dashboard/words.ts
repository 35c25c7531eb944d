import { localised } from "../messages"
import { dashboard } from "../messages/en/dashboard"

/** What the dashboard shows. */
export const words = localised(dashboard)
