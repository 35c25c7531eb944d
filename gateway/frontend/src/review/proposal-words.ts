import { localised } from "../messages"
import { proposals } from "../messages/en/proposals"

/** What the review of proposals shows. */
export const words = localised(proposals)
