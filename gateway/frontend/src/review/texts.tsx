import { memo, type ReactNode, useMemo } from "react"
import { type Mark, MarkedText } from "../kit/marked-text"
import { m } from "../messages"
import type { Texts } from "./queries"
import type { Pair } from "./queue"
import css from "./texts.module.css"

type Side = "requirement" | "test_case"
const NONE: readonly Mark[] = []

type Props = {
  pair: Pair
  texts: Texts | undefined
  only: string | undefined
  areMarked: boolean
}

/** Both sides of a pair, side by side, with the terms that they share; `only` one of these, if given. */
export const BothTexts = memo(function BothTexts({ pair, texts, only, areMarked }: Props) {
  const marks = useMemo(() => marksOf(areMarked ? texts : undefined), [texts, areMarked])
  const show = (side: Side, field: string, text: string) => (
    <MarkedText text={text} marks={marks.get(`${side}.${field}`) ?? NONE} only={only} />
  )
  return (
    <>
      <article className={css.side} aria-label={m.review.requirement} aria-busy={!texts}>
        <Heading kind={m.review.requirement} item={pair.requirement}>
          {show("requirement", "title", (texts ?? pair).requirement.title)}
        </Heading>
        {texts ? (
          <div className={css.body}>
            <p className={css.text}>{show("requirement", "description", texts.requirement.description)}</p>
            <Tags
              priority={texts.requirement.priority}
              tags={texts.requirement.tags}
              show={(tag, at) => show("requirement", `tags.${at}`, tag)}
            />
          </div>
        ) : (
          <Lines />
        )}
      </article>
      <article className={css.side} aria-label={m.review.testCase}>
        <Heading kind={m.review.testCase} item={pair.test_case}>
          {show("test_case", "title", (texts ?? pair).test_case.title)}
        </Heading>
        {texts ? (
          <TestCaseBody testCase={texts.test_case} show={(field, text) => show("test_case", field, text)} />
        ) : (
          <Lines />
        )}
      </article>
    </>
  )
})

function Heading({ kind, item, children }: { kind: string; item: Pair["requirement"]; children: ReactNode }) {
  const facts = [kind, item.external_id, item.module].filter(Boolean)
  return (
    <header className={css.heading}>
      <p className={css.facts}>
        {facts.map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
      </p>
      <h2 className={css.title}>{children}</h2>
    </header>
  )
}

type TestCaseBodyProps = {
  testCase: Texts["test_case"]
  show: (field: string, text: string) => ReactNode
}

function TestCaseBody({ testCase, show }: TestCaseBodyProps) {
  const { description, preconditions, steps, postconditions, tags } = testCase
  const numbers = Object.keys(steps ?? {}).sort((one, other) => Number(one) - Number(other))
  return (
    <div className={css.body}>
      {description && <p className={css.text}>{show("description", description)}</p>}
      {preconditions && (
        <Section title={m.review.preconditions}>
          <p className={css.text}>{show("preconditions", preconditions)}</p>
        </Section>
      )}
      {numbers.length > 0 && (
        <Section title={m.review.steps}>
          <ol className={css.steps}>
            {numbers.map((number) => (
              <li key={number} value={Number(number)}>
                {show(`steps.${number}`, steps?.[number] ?? "")}
              </li>
            ))}
          </ol>
        </Section>
      )}
      {postconditions && (
        <Section title={m.review.postconditions}>
          <p className={css.text}>{show("postconditions", postconditions)}</p>
        </Section>
      )}
      <Tags priority={testCase.priority} tags={tags} show={(tag, at) => show(`tags.${at}`, tag)} />
    </div>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={css.section}>
      <h3>{title}</h3>
      {children}
    </section>
  )
}

type TagsProps = {
  priority: string
  tags: string[]
  show: (tag: string, at: number) => ReactNode
}

function Tags({ priority, tags, show }: TagsProps) {
  return (
    <ul className={css.tags} aria-label={m.review.tags}>
      <li>{m.review.priority(priority)}</li>
      {tags.map((tag, at) => (
        <li key={tag}>{show(tag, at)}</li>
      ))}
    </ul>
  )
}

function Lines() {
  return (
    <div className={css.lines} aria-hidden="true">
      <div />
      <div />
      <div />
    </div>
  )
}

function marksOf(texts: Texts | undefined): Map<string, Mark[]> {
  const spans = texts?.spans ?? []
  const heaviest = Math.max(...spans.map(({ weight }) => weight), 0)
  const marks = new Map<string, Mark[]>()
  for (const { side, field, start, end, term, weight } of spans) {
    const strength = Math.max(1, Math.ceil((3 * weight) / heaviest))
    const at = `${side}.${field}`
    marks.set(at, [...(marks.get(at) ?? []), { start, end, term, strength }])
  }
  return marks
}
