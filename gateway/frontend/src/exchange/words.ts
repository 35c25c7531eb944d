import { localised } from "../messages"
import { exchange } from "../messages/en/exchange"

/** What imports and exports show. */
export const words = localised(exchange)
