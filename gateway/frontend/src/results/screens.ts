/** Everything about results, in one piece: its parts share more than they have of their own. */
export { ConnectPage } from "./connect"
export { ResultsPage } from "./page"
export { RunPage } from "./run"
export { ResultsTab } from "./tab"
