import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { ApiProblem, UNREACHABLE } from "../api/problem"
import { judge, Outbox, type Report, type Write } from "./outbox"
import type { Pair } from "./queue"

const write = (id: string, kind: Write["kind"] = "accept"): Write => ({
  pair: { id } as Pair,
  kind,
  decision: kind === "reject" ? "rejected" : "accepted",
})
const away = new ApiProblem(503, { code: "unavailable" })
const refused = new ApiProblem(409, { code: "link_changed", detail: "No." })

/** A server of this test: what it is asked, and how it answers. */
function served(answer: (one: Write, times: number) => Promise<void> | undefined) {
  const asked: string[] = []
  const reports: Report[] = []
  const outbox = new Outbox(
    async (one) => {
      asked.push(`${one.kind} ${one.pair.id}`)
      await answer(one, asked.filter((other) => other === asked.at(-1)).length)
    },
    (report) => reports.push(report),
    () => undefined,
  )
  return { asked, reports, outbox, told: () => reports.map(({ outcome, write }) => `${outcome} ${write.pair.id}`) }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())
const settle = () => vi.advanceTimersByTimeAsync(0)
/** Have leave what was added; the answers are still to come. */
const leave = () => vi.advanceTimersByTime(0)

describe("the outbox", () => {
  it("sends at once, in order, a few at a time", async () => {
    const { outbox, asked, told } = served(() => undefined)
    for (const id of "abcdef") outbox.add(write(id))
    leave()
    expect(asked).toEqual(["accept a", "accept b", "accept c", "accept d"])
    await settle()
    expect(asked).toHaveLength(6)
    expect(told()).toHaveLength(6)
    expect(outbox.unconfirmed).toHaveLength(0)
  })

  it("never speaks of one pair twice at a time", async () => {
    let arrive = () => undefined as undefined
    const { outbox, asked } = served(() => new Promise((resolve) => (arrive = () => void resolve())))
    outbox.add(write("a"))
    leave()
    outbox.add(write("a", "reopen"))
    await settle()
    expect(asked).toEqual(["accept a"])
    arrive()
    await settle()
    expect(asked).toEqual(["accept a", "reopen a"])
  })

  it("tries again what failed for a while, and holds up no other", async () => {
    const { outbox, asked, told } = served((one, times) =>
      one.pair.id === "a" && times < 3 ? Promise.reject(away) : undefined,
    )
    outbox.add(write("a"))
    outbox.add(write("b"))
    await settle()
    expect(told()).toEqual(["confirmed b"])
    await vi.advanceTimersByTimeAsync(5000)
    expect(asked.filter((one) => one === "accept a")).toHaveLength(3)
    expect(told()).toEqual(["confirmed b", "confirmed a"])
  })

  it("gives up on a server that stays busy, never on one that cannot be reached", async () => {
    const busy = served(() => Promise.reject(away))
    busy.outbox.add(write("a"))
    await vi.advanceTimersByTimeAsync(120_000)
    expect(busy.told()).toEqual(["failed a"])
    const offline = served(() => Promise.reject(new ApiProblem(UNREACHABLE, {})))
    offline.outbox.add(write("a"))
    await vi.advanceTimersByTimeAsync(120_000)
    expect([offline.told(), offline.outbox.unconfirmed.length]).toEqual([[], 1])
  })

  it("takes back here what never left", async () => {
    const { outbox, asked } = served(() => new Promise(() => undefined))
    for (const id of "abcde") outbox.add(write(id))
    outbox.add(write("e", "reopen"))
    await settle()
    expect([asked.length, outbox.unconfirmed.length]).toEqual([4, 4])
  })

  it("undoes nothing that somebody else decided", async () => {
    const before = new ApiProblem(409, { code: "suggestion_not_pending", suggestion_status: "rejected" })
    const { outbox, asked, told } = served(() => Promise.reject(before))
    outbox.add(write("a"))
    leave()
    outbox.add(write("a", "reopen"))
    await settle()
    expect([asked, told()]).toEqual([["accept a"], ["taken a"]])
  })

  it("undoes no decision that failed", async () => {
    const { outbox, asked, told } = served(() => Promise.reject(refused))
    outbox.add(write("a"))
    leave()
    outbox.add(write("a", "reopen"))
    await settle()
    expect([asked, told(), outbox.unconfirmed]).toEqual([["accept a"], [], []])
  })

  it("tries at once when the connection is back", async () => {
    const { outbox, asked } = served((_, times) => (times === 1 ? Promise.reject(away) : undefined))
    outbox.add(write("a"))
    await settle()
    outbox.hurry()
    await settle()
    expect([asked.length, outbox.unconfirmed.length]).toEqual([2, 0])
  })
})

describe("a refusal", () => {
  const conflict = (code: string, status?: string) => new ApiProblem(409, { code, suggestion_status: status })

  it.each([
    ["accept", conflict("suggestion_not_pending", "rejected"), "taken"],
    ["accept", conflict("suggestion_not_pending", "accepting"), "later"],
    ["accept", conflict("link_exists"), "taken"],
    ["accept", new ApiProblem(404, { code: "suggestion_not_found" }), "taken"],
    ["reject", new ApiProblem(403, { code: "forbidden" }), "failed"],
    ["reject", new ApiProblem(429, {}), "later"],
    ["reopen", conflict("suggestion_not_reviewed", "pending"), "done"],
    ["reopen", conflict("suggestion_not_reviewed", "accepting"), "later"],
    ["reopen", conflict("suggestion_not_reviewed", "expired"), "failed"],
    ["reopen", conflict("link_changed"), "failed"],
  ] as const)("of %s (%o) is %s", (kind, problem, verdict) => {
    expect(judge(write("a", kind), problem)).toBe(verdict)
  })
})
