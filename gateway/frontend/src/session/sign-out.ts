import { complain } from "../kit/toast"
import { endSession } from "./session"

/** Sign out in all tabs of this browser, or say why that did not happen. */
export const signOut = (): Promise<void> => endSession().catch(complain)
