import { localised } from "../messages"
import { projectScreens } from "../messages/en/project-screens"

/** What the screens about projects show. */
export const words = localised(projectScreens)
