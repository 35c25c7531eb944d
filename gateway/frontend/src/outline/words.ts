import { localised } from "../messages"
import { outline } from "../messages/en/outline"

/** What the outline shows. */
export const words = localised(outline)
