import { localised } from "../messages"
import { byHand } from "../messages/en/by-hand"

/** What the screen says on which somebody runs test cases by hand. */
export const said = localised(byHand)
