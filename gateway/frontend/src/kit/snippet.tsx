import { m } from "../messages"
import { Button } from "./button"
import css from "./snippet.module.css"
import { toast } from "./toast"

/** Lines to be pasted elsewhere, and where that is. */
export function Snippet({ label, text }: { label: string; text: string }) {
  const copy = () => void navigator.clipboard.writeText(text).then(() => toast(m.common.copied))
  return (
    <figure className={css.snippet}>
      <figcaption>
        <span>{label}</span>
        {navigator.clipboard && (
          <Button look="quiet" aria-label={m.common.copyOf(label)} onPress={copy}>
            {m.common.copy}
          </Button>
        )}
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
      <section tabIndex={0} aria-label={label}>
        <pre>{text}</pre>
      </section>
    </figure>
  )
}
