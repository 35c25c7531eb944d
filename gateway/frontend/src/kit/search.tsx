import { useEffect, useRef, useState } from "react"
import { Field } from "./field"

const TYPING_MS = 200

type Props = { label: string; value: string; onChange: (value: string) => void }

/** A field whose words are searched for when nothing was typed for a moment. */
export function Search({ label, value, onChange }: Props) {
  const [typed, setTyped] = useState(value)
  const sent = useRef(value)
  if (sent.current !== value) {
    sent.current = value
    setTyped(value)
  }
  useEffect(() => {
    if (typed.trim() === sent.current) return
    const timer = setTimeout(() => {
      sent.current = typed.trim()
      onChange(typed.trim())
    }, TYPING_MS)
    return () => clearTimeout(timer)
  })
  return <Field label={label} hideLabel type="search" placeholder={label} value={typed} onChange={setTyped} />
}
