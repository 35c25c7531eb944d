import { memo } from "react"
import css from "./marked-text.module.css"
import { pieces } from "./pieces"

/** A term at a place of a text; `strength` 1 to 3. */
export type Mark = { start: number; end: number; term: string; strength: number }

type Props = {
  text: string
  marks: readonly Mark[]
  only?: string | undefined
}

/** A text with terms marked in it; of `only` one term, if given. */
export const MarkedText = memo(function MarkedText({ text, marks, only }: Props) {
  return pieces(text, marks).map(({ text: piece, place }, index) =>
    place ? (
      <mark
        key={index}
        className={css.mark}
        data-term={place.term}
        data-strength={place.strength}
        data-quiet={(only !== undefined && only !== place.term) || undefined}
        data-only={only === place.term || undefined}
      >
        {piece}
      </mark>
    ) : (
      piece
    ),
  )
})
