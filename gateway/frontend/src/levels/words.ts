import { localised } from "../messages"
import { levels } from "../messages/en/levels"

/** What the tree of requirements and the trace of one show. */
export const words = localised(levels)
