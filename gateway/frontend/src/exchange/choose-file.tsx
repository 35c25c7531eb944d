import { useRef, useState } from "react"
import { Button } from "../kit/button"
import { useDropped } from "../kit/dropped"
import { Refusal } from "../kit/form"
import { useShortcuts } from "../kit/shortcuts"
import { MOST_BYTES } from "./api"
import css from "./exchange.module.css"
import { words as exchange } from "./words"

const words = exchange.file

/** Where a file is dropped or chosen. */
export function ChooseFile({ choose }: { choose: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null)
  const [isOver, setOver] = useState(false)
  const [refusal, setRefusal] = useState<string>()
  const ask = () => input.current?.click()
  useShortcuts([{ keys: "c", label: words.choose, run: ask }])
  function take(file: File | undefined) {
    if (!file) return
    if (file.size > MOST_BYTES) setRefusal(words.tooLarge(file.name))
    else if (file.size === 0) setRefusal(words.empty(file.name))
    else choose(file)
  }
  useDropped(([file]) => take(file), setOver)
  return (
    <section className={css.drop} aria-label={words.title} data-over={isOver || undefined}>
      <p>
        {words.drop}{" "}
        <Button look="primary" keys="c" onPress={ask}>
          {words.choose}
        </Button>
      </p>
      <p className={css.quiet}>{words.hint}</p>
      {refusal && <Refusal>{refusal}</Refusal>}
      <input
        ref={input}
        type="file"
        hidden
        aria-label={words.title}
        onChange={({ target }) => {
          take(target.files?.[0])
          // So that the same file can be chosen again once it is mended.
          target.value = ""
        }}
      />
    </section>
  )
}
