import { Held } from "../kit/held"
import { complain, toast } from "../kit/toast"
import { m } from "../messages"
import { store } from "../store"
import { deleteLink } from "./api"

const HELD_MS = 6500
const READ_ANEW_MS = 1000

// Deleting a link loses its source, its score and its age, which no later link has: so it waits as long as it can be
// taken back.
const held = new Held(HELD_MS)
const gone = store<ReadonlySet<string>>(new Set())

/** Return the links that are about to be deleted. */
export const useUnlinked = gone.use

/** Unlink in a moment; until then it can be taken back, and the link is already not shown any more. */
export function unlink(id: string, done: () => void): void {
  const show = () => gone.set(new Set([...gone.get()].filter((one) => one !== id)))
  gone.set(new Set([...gone.get(), id]))
  held.add(id, () => {
    deleteLink(id)
      .catch(complain)
      .finally(() => {
        done()
        // The list is read anew by then: the link does not come up once more.
        setTimeout(show, READ_ANEW_MS)
      })
  })
  toast(m.items.link.unlinked, { undo: () => held.takeBack(id) && show() })
}
