import { useState } from "react"
import { Link } from "wouter"
import { Button } from "../kit/button"
import { useShortcuts } from "../kit/shortcuts"
import { formatScore, m } from "../messages"
import { short } from "./names"
import type { Pair, Variant } from "./queue"
import css from "./variants.module.css"

type Props = {
  pair: Pair
  variants: readonly Variant[]
  /** Take some out of the group; none for who may not review. */
  takeOut: ((ids: readonly string[]) => void) | undefined
}

/** The test cases that are decided on with the one that is read. */
export function Variants({ pair, variants, takeOut }: Props) {
  const [open, setOpen] = useState<string>()
  const isOpen = open === pair.id
  const toggle = () => setOpen(isOpen ? undefined : pair.id)
  useShortcuts([{ keys: "v", label: m.review.keys.variants, run: toggle }])
  return (
    <section className={css.variants} aria-label={m.review.variants}>
      <Button look="quiet" keys="v" aria-expanded={isOpen} onPress={toggle}>
        {m.review.andVariants(variants.length)}
      </Button>
      {isOpen && (
        <>
          <p className={css.hint}>{m.review.variantsHint}</p>
          <ul className={css.list} aria-label={m.review.variants}>
            {variants.map(({ id, similarity_score: score, test_case: testCase }) => (
              <li key={id} className={css.variant}>
                <span className={css.score}>{formatScore(score)}</span>
                <Link className={css.title} href={`/test-cases/${testCase.id}`}>
                  {[testCase.external_id, testCase.title].filter(Boolean).join(" ")}
                </Link>
                {takeOut && (
                  <Button look="quiet" aria-label={m.review.takeOutOne(short(testCase))} onPress={() => takeOut([id])}>
                    {m.review.takeOut}
                  </Button>
                )}
              </li>
            ))}
          </ul>
          {takeOut && variants.length > 1 && (
            <Button onPress={() => takeOut(variants.map(({ id }) => id))}>{m.review.takeAllApart}</Button>
          )}
        </>
      )}
    </section>
  )
}
