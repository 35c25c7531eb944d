import { localised } from "../messages"
import { results } from "../messages/en/results"

/** What the screens about results show. */
export const words = localised(results)
