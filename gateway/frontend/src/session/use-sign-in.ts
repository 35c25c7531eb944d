import { useEffect, useState } from "react"
import { ApiProblem, UNREACHABLE } from "../api/problem"
import { m } from "../messages"
import { signIn } from "./session"

/** Return how to sign in, whether that is under way, and why it was refused, counting down what is left to wait. */
export function useSignIn() {
  const [isSending, setSending] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const [left, setLeft] = useState(0)
  useEffect(() => {
    if (left <= 0) return
    const timer = setTimeout(() => setLeft(left - 1), 1000)
    return () => clearTimeout(timer)
  }, [left])
  async function send(email: string, password: string) {
    setSending(true)
    setProblem(undefined)
    try {
      await signIn(email, password)
    } catch (refused) {
      setProblem(refused)
      setLeft(refused instanceof ApiProblem ? (refused.retryAfter ?? 0) : 0)
    } finally {
      setSending(false)
    }
  }
  return { send, isHeld: isSending || left > 0, isSending, error: problem ? sentence(problem, left) : undefined }
}

function sentence(problem: unknown, left: number): string {
  if (!(problem instanceof ApiProblem)) return m.common.failed
  if (problem.status === UNREACHABLE) return m.common.unreachable
  if (problem.status === 401) return m.session.wrong
  if (problem.status === 429) return left > 0 ? m.session.tooMany(left) : m.session.tryNow
  return problem.message || m.common.failed
}
