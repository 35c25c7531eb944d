import { describe, expect, it } from "vitest"
import { type Action, around, EMPTY, idsOf, type Pair, perMinute, type Queue, reduce, skipped } from "./queue"

const item = (id: string) => ({ id, external_id: id, title: id, module: null })
const pair = (id: string): Pair => ({
  id,
  similarity_score: 0.8,
  band: "high",
  suggestion_method: "hybrid",
  requirement: item(`R-${id}`),
  test_case: item(`T-${id}`),
})
const start = (ids: string, total = ids.length, list = "all"): Action => ({
  type: "started",
  list,
  pairs: [...ids].map(pair),
  total,
  ofAll: total,
})
const after = (...actions: Action[]): Queue => actions.reduce(reduce, EMPTY)
const accept = (id: string, at = 0): Action => ({ type: "decided", id, decision: "accepted", at })
const skip = (id: string): Action => ({ type: "decided", id, decision: "skipped", at: 0 })
const taken = (...ids: string[]): Action => ({
  type: "taken",
  ids,
  by: { status: "rejected", by: "ana@example.com", at: null },
})
const shown = ({ shown }: Queue) => shown.map(({ id }) => id).join("")

describe("a decision", () => {
  it("takes the pair off the list, and the next one is read", () => {
    const queue = after(start("abc", 10), accept("a"))
    expect([shown(queue), queue.current, queue.left, queue.done]).toEqual(["bc", "b", 9, 1])
  })

  it("on the last pair has the one before read", () => {
    expect(after(start("ab"), { type: "chosen", id: "b" }, accept("b")).current).toBe("a")
  })

  it("on a pair that is not shown any more is none", () => {
    const queue = after(start("ab"), accept("a"))
    expect(reduce(queue, accept("a"))).toBe(queue)
  })

  it("stays out although the server lists the pair once more", () => {
    const queue = after(start("ab"), accept("a"), { type: "continued", list: "all", pairs: [pair("a"), pair("c")] })
    expect(shown(queue)).toBe("bc")
    expect(shown(after(start("ab"), accept("a"), start("ab")))).toBe("b")
  })

  it("that failed is back where it was, and what is read stays", () => {
    const queue = after(start("abc"), accept("a"), accept("b"), { type: "failed", id: "a", message: "No." })
    expect([shown(queue), queue.current, queue.left, queue.done]).toEqual(["ac", "c", 2, 1])
    expect(queue.failures.get("a")).toBe("No.")
    expect(queue.steps).toHaveLength(1)
  })
})

describe("undo", () => {
  it("takes back one decision after another, each to its place", () => {
    const decided = after(start("abcd"), { type: "chosen", id: "b" }, accept("b"), skip("c"), accept("d"))
    expect(shown(decided)).toBe("a")
    const [once, twice, thrice] = [1, 2, 3].map((times) =>
      Array.from({ length: times }).reduce<Queue>((queue) => reduce(queue, { type: "undone" }), decided),
    ) as [Queue, Queue, Queue]
    expect([shown(once), once.current]).toEqual(["ad", "d"])
    expect([shown(twice), twice.current]).toEqual(["acd", "c"])
    expect([shown(thrice), thrice.current, thrice.left, thrice.done]).toEqual(["abcd", "b", 4, 0])
    expect(reduce(thrice, { type: "undone" })).toBe(thrice)
  })

  it("in another list puts the pair before what is read there", () => {
    const queue = after(
      start("ab"),
      accept("a"),
      start("xyz", 3, "other"),
      { type: "moved", by: 1 },
      { type: "undone" },
    )
    expect([shown(queue), queue.current]).toEqual(["xayz", "a"])
  })

  it("that is refused leaves the decision as it was, and it can be tried again", () => {
    const before = after(start("ab"), accept("a"))
    const queue = [
      { type: "undone" } as const,
      { type: "undo-failed", pair: pair("a"), decision: "accepted", at: 1 } as const,
    ].reduce<Queue>(reduce, before)
    expect([shown(queue), queue.current, queue.done, queue.left]).toEqual(["b", "b", 1, 1])
  })
})

describe("what others decide", () => {
  it("leaves the list, and never moves what is read", () => {
    const queue = after(start("abcd", 8), { type: "chosen", id: "c" }, taken("a", "d"))
    expect([shown(queue), queue.current, queue.left]).toEqual(["bc", "c", 6])
  })

  it("is marked on the pair that is read, which goes when its reader does", () => {
    const marked = after(start("abc"), taken("a"))
    expect([shown(marked), marked.current, marked.taken.get("a")?.by]).toEqual(["abc", "a", "ana@example.com"])
    expect(shown(reduce(marked, { type: "moved", by: 1 }))).toBe("bc")
    const decided = reduce(marked, accept("a"))
    expect([shown(decided), decided.current, decided.done, decided.left]).toEqual(["bc", "b", 0, 2])
  })

  it("counts once, however often it is said", () => {
    expect(after(start("abc"), taken("a"), taken("a"), taken("b", "b")).left).toBe(1)
  })

  it("before my decision arrived is not mine, neither to count nor to undo", () => {
    const queue = after(start("ab"), accept("a"), { ...taken("a"), mine: true } as Action)
    expect([shown(queue), queue.done, queue.steps.length, queue.left]).toEqual(["b", 0, 0, 1])
  })

  it("after my decision that never left is told when I take that back", () => {
    const queue = after(start("ab"), accept("a"), taken("a"), { type: "undone" })
    expect([shown(queue), queue.left, queue.taken.get("a")?.by]).toEqual(["ab", 1, "ana@example.com"])
  })

  it("before a decision of an earlier tab arrived is not counted here", () => {
    const queue = reduce({ ...after(start("ab"), accept("a")), steps: [] }, { ...taken("a"), mine: true } as Action)
    expect(queue.done).toBe(1)
  })

  it("and then undo is pending again", () => {
    const queue = after(start("abc"), taken("a", "b"), { type: "reopened", ids: ["a"] })
    expect([shown(queue), queue.taken.size, queue.left]).toEqual(["ac", 0, 2])
  })
})

describe("skipped pairs", () => {
  it("still wait, and come back when asked for", () => {
    const queue = after(start("ab"), skip("a"), skip("b"))
    expect([shown(queue), queue.left, queue.done, skipped(queue)]).toEqual(["", 2, 0, 2])
    const back = reduce(queue, { type: "skips-returned" })
    expect([shown(back), back.current, skipped(back)]).toEqual(["ab", "a", 0])
  })
})

describe("a new list", () => {
  it("goes on at the pair that is read, if it has it", () => {
    expect(after(start("abc"), { type: "chosen", id: "b" }, start("xbz")).current).toBe("b")
    expect(after(start("abc"), { type: "chosen", id: "b" }, start("xyz")).current).toBe("x")
  })

  it("leaves out what an earlier tab decided and the server does not know yet", () => {
    const queue = reduce({ ...EMPTY, out: new Map([["b", "accepted"]]) }, start("abc", 7))
    expect([shown(queue), queue.left]).toEqual(["ac", 6])
  })

  it("begins with what is being undone and the server does not list yet", () => {
    const queue = after(start("ab"), { type: "returned", pairs: [pair("x"), pair("a"), pair("y")] })
    expect([shown(queue), queue.left]).toEqual(["xyab", 4])
  })

  it("takes no page of the list before", () => {
    const queue = after(start("ab"), { type: "continued", list: "other", pairs: [pair("c")] })
    expect(shown(queue)).toBe("ab")
  })
})

it("says how many are next", () => {
  const { pair: read, index, next } = around(after(start("abcd"), { type: "moved", by: 1 }), 2)
  expect([read?.id, index, next.map(({ id }) => id).join("")]).toEqual(["b", 1, "cd"])
})

it("measures the pace by the last five minutes, and says none before half a minute", () => {
  const now = 600_000
  expect(perMinute([now - 10_000, now], now)).toBeUndefined()
  expect(perMinute([0, ...Array.from({ length: 30 }, (_, at) => now - 60_000 + at * 2000)], now)).toBe(30)
})

describe("a group of variants", () => {
  const variant = (id: string) => ({ id, similarity_score: 0.7, band: "moderate" as const, test_case: item(`T-${id}`) })
  const group = (ids: string): Pair => ({ ...pair(ids.slice(0, 1)), variants: [...ids.slice(1)].map(variant) })
  const groups = (...all: string[]): Action => {
    const pairs = all.map(group)
    return { type: "started", list: "all", pairs, total: pairs.length, ofAll: all.join("").length }
  }
  const groupsOf = ({ shown }: Queue) => shown.map((one) => idsOf(one).join(""))
  const counts = ({ left, pairsLeft, done }: Queue) => [left, pairsLeft, done]

  it("is decided on as one, and comes back as one", () => {
    const queue = after(groups("abc", "d"), accept("a"))
    expect([groupsOf(queue), ...counts(queue)]).toEqual([["d"], 1, 1, 1])
    expect(groupsOf(reduce(queue, groups("abc", "d")))).toEqual(["d"])
    const back = reduce(queue, { type: "undone" })
    expect([groupsOf(back), ...counts(back)]).toEqual([["abc", "d"], 2, 4, 0])
  })

  it("is taken apart at will, and what was taken out comes next, also when the list is read anew", () => {
    const queue = after(groups("abc", "d"), { type: "taken-out", ids: ["c"] })
    expect([groupsOf(queue), queue.current, ...counts(queue)]).toEqual([["ab", "c", "d"], "a", 3, 4, 0])
    const decided = reduce(queue, accept("a"))
    expect([groupsOf(decided), decided.current]).toEqual([["c", "d"], "c"])
    expect(groupsOf(reduce(decided, { type: "undone" }))).toEqual(["ab", "c", "d"])
    expect(groupsOf(reduce(queue, groups("abc", "d")))).toEqual(["ab", "c", "d"])
  })

  it("loses what somebody else has decided on, and goes on with the others", () => {
    const queue = after(groups("abc", "def"), taken("d", "c"))
    expect([groupsOf(queue), ...counts(queue)]).toEqual([["ab", "ef"], 2, 4, 0])
    const read = reduce(queue, taken("a"))
    expect([groupsOf(read), read.taken.size]).toEqual([["ab", "ef"], 1])
    expect(groupsOf(reduce(read, { type: "moved", by: 1 }))).toEqual(["b", "ef"])
    expect(counts(after(groups("abc", "d"), taken("a", "b", "c")))).toEqual([1, 1, 0])
  })
})
