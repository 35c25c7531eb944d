import { useEffect, useState } from "react"
import { ApiProblem } from "../api/problem"
import { sentenceOf } from "../api/sentence"
import { m } from "../messages"
import { signIn } from "./session"

/** Return how to sign in, whether that is under way, and why it was refused, counting down what is left to wait. */
export function useSignIn() {
  const [isSending, setSending] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const [left, setLeft] = useState(0)
  const [isCodeAsked, setCodeAsked] = useState(false)
  useEffect(() => {
    if (left <= 0) return
    const timer = setTimeout(() => setLeft(left - 1), 1000)
    return () => clearTimeout(timer)
  }, [left])
  async function send(email: string, password: string, code?: string) {
    setSending(true)
    setProblem(undefined)
    try {
      await signIn(email, password, code)
    } catch (refused) {
      const { code: why } = refused instanceof ApiProblem ? refused : { code: "" }
      if (why === "second_factor_required") return setCodeAsked(true)
      setProblem(why.startsWith("second_factor") ? new Error(m.session.wrongCode) : refused)
      setLeft(refused instanceof ApiProblem ? (refused.retryAfter ?? 0) : 0)
    } finally {
      setSending(false)
    }
  }
  const known = { 401: m.session.wrong, 429: left > 0 ? m.session.tooMany(left) : m.session.tryNow }
  const said = problem instanceof Error && !(problem instanceof ApiProblem) ? problem.message : undefined
  const error = problem ? (said ?? sentenceOf(problem, known)) : undefined
  return { send, isHeld: isSending || left > 0, isSending, isCodeAsked, error }
}
