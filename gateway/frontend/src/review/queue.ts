import type { components } from "../api/schema"

type Schemas = components["schemas"]
export type Suggestion = Schemas["Suggestion"]
export type Variant = Schemas["Variant"]
export type Pair = Pick<
  Suggestion,
  "id" | "similarity_score" | "band" | "suggestion_method" | "requirement" | "test_case" | "more_of_requirement"
> & {
  /** Other pairs of its requirement that are decided with it: their test cases are variants of its own. */
  variants?: readonly Variant[]
}
export type Decision = "accepted" | "rejected" | "skipped"
/** What somebody else did with a pair. */
export type Taken = { status: string; by: string | null; at: string | null }

/** A pair and its place in the list: what comes back goes there. */
type Placed = Pair & { place: number }

export type Step =
  | { kind: "one"; decision: Decision; list: string; pair: Placed }
  | { kind: "many"; decision: Decision; reviewId: string; count: number; at: number }

export type Queue = {
  /** Which list it is: its filters. */
  list: string
  /** What waits for a decision, in the order of the list. */
  shown: readonly Placed[]
  current: string | undefined
  /** What is not shown although the server may still list it. */
  out: ReadonlyMap<string, Decision | "taken">
  /** What the pair that is read has become meanwhile; it stays until the reader goes on. */
  taken: ReadonlyMap<string, Taken>
  /** Variants that were taken out of their groups: they are decided on by themselves. */
  apart: ReadonlySet<string>
  /** Why a pair has come back. */
  failures: ReadonlyMap<string, string>
  /** What `undo` takes back, the newest last. */
  steps: readonly Step[]
  /** How many wait in all, those included that have not been loaded. */
  left: number
  /** The same of pairs: with all variants, and those beyond the best of a requirement, too. */
  pairsLeft: number
  done: number
  /** When the decisions were made, in milliseconds. */
  times: readonly number[]
}

export type Action =
  | { type: "started"; list: string; pairs: readonly Pair[]; total: number; ofAll: number }
  | { type: "continued"; list: string; pairs: readonly Pair[] }
  | { type: "moved"; by: number }
  | { type: "chosen"; id: string }
  | { type: "taken-out"; ids: readonly string[] }
  | { type: "decided"; id: string; decision: Decision; at: number }
  | { type: "decided-many"; decision: Decision; reviewId: string; count: number; at: number }
  | { type: "undone" }
  | { type: "failed"; id: string; message: string }
  | { type: "undo-failed"; pair: Pair; decision: Decision; at: number }
  | { type: "taken"; ids: readonly string[]; by: Taken; mine?: boolean }
  | { type: "reopened"; ids: readonly string[] }
  | { type: "returned"; pairs: readonly Pair[] }
  | { type: "skips-returned" }

const RATE_MS = 5 * 60_000
const FEWEST_MS = 30_000

export const EMPTY: Queue = {
  list: "",
  shown: [],
  current: undefined,
  out: new Map(),
  taken: new Map(),
  apart: new Set(),
  failures: new Map(),
  steps: [],
  left: 0,
  pairsLeft: 0,
  done: 0,
  times: [],
}

/** Return the queue after something has happened to it. */
export function reduce(queue: Queue, action: Action): Queue {
  switch (action.type) {
    case "started":
      return started(queue, action)
    case "continued":
      return action.list === queue.list ? withMore(queue, action.pairs) : queue
    case "moved":
      return moved(queue, action.by)
    case "chosen":
      return leave(queue, action.id)
    case "taken-out":
      return takenOut(queue, action.ids)
    case "decided":
      return decided(queue, action.id, action.decision, action.at)
    case "decided-many": {
      const { type: _, ...step } = action
      const times = [...queue.times, ...Array.from({ length: step.count }, () => step.at)]
      return { ...queue, steps: [...queue.steps, { kind: "many", ...step }], done: queue.done + step.count, times }
    }
    case "undone":
      return undone(queue)
    case "failed":
      return failed(queue, action.id, action.message)
    case "undo-failed":
      return undoFailed(queue, action.pair, action.decision, action.at)
    case "taken":
      return taken(queue, action.ids, action.by, action.mine ?? false)
    case "reopened":
      return reopened(queue, action.ids)
    case "returned":
      return action.pairs.reduceRight(returned, queue)
    case "skips-returned":
      return skipsReturned(queue)
  }
}

/** Return the pair that is read, its number in the list (from 0), and those that come next. */
export function around(queue: Queue, ahead: number): { pair: Placed | undefined; index: number; next: Placed[] } {
  const index = queue.shown.findIndex(({ id }) => id === queue.current)
  return { pair: queue.shown[index], index, next: queue.shown.slice(index + 1, index + 1 + ahead) }
}

/** Return the ids of all that is decided with a pair, its own first. */
export function idsOf({ id, variants = [] }: Pair): string[] {
  return [id, ...variants.map((variant) => variant.id)]
}

/** Return how many were decided a minute of late; undefined while that would say nothing. */
export function perMinute(times: readonly number[], now: number): number | undefined {
  const late = times.filter((at) => at > now - RATE_MS)
  const first = late[0]
  if (first === undefined || now - first < FEWEST_MS) return undefined
  return Math.round(late.length / ((now - first) / 60_000))
}

/** Return how many pairs were skipped and wait at the end. */
export function skipped(queue: Queue): number {
  return queue.steps.filter((step) => step.kind === "one" && queue.out.get(step.pair.id) === "skipped").length
}

function started(queue: Queue, { list, pairs, total, ofAll }: Action & { type: "started" }): Queue {
  // What was decided here stays out: the server may have read its list a moment before.
  const { out } = queue
  const empty = { ...queue, list, shown: [], current: undefined, taken: new Map() }
  const { shown } = withMore(empty, pairs)
  const current = shown.some(({ id }) => id === queue.current) ? queue.current : shown[0]?.id
  const decided = pairs.filter(({ id }) => out.has(id) && out.get(id) !== "skipped")
  const left = Math.max(shown.length, total - decided.length)
  return { ...empty, shown, current, left, pairsLeft: Math.max(left, ofAll - decided.flatMap(idsOf).length) }
}

function withMore(queue: Queue, pairs: readonly Pair[]): Queue {
  const known = new Set(queue.shown.map(({ id }) => id))
  let place = Math.ceil((queue.shown.at(-1)?.place ?? -1) + 1)
  const more = pairs
    .flatMap((one) => divided(one, (id) => queue.apart.has(id)))
    .flatMap((one) => remaining(one, (id) => !queue.out.has(id)))
    .filter(({ id }) => !known.has(id))
    .map((one) => ({ ...one, place: place++ }))
  if (more.length === 0) return queue
  return { ...queue, shown: [...queue.shown, ...more], current: queue.current ?? more[0]?.id }
}

/** Return a pair without some of its variants, and each of those as a pair of its own. */
function divided<P extends Pair>(pair: P, isApart: (id: string) => boolean): P[] {
  const { variants = [] } = pair
  const apart = variants.filter(({ id }) => isApart(id))
  if (apart.length === 0) return [pair]
  const rest = variants.filter(({ id }) => !isApart(id))
  return [{ ...pair, variants: rest }, ...apart.map((one) => ({ ...pair, ...one, variants: [] }))]
}

/** Return what is left of a pair and its variants: one pair, or none. */
function remaining<P extends Pair>(pair: P, isLeft: (id: string) => boolean): P[] {
  if (idsOf(pair).every(isLeft)) return [pair]
  const [first, ...variants] = [pair, ...(pair.variants ?? [])].filter(({ id }) => isLeft(id))
  return first ? [{ ...pair, ...first, variants }] : []
}

/** Take variants out of their group: each is read and decided on by itself, next. */
function takenOut(queue: Queue, ids: readonly string[]): Queue {
  const apart = new Set([...queue.apart, ...ids])
  const shown = queue.shown.flatMap((pair, index) => {
    const all = divided(pair, (id) => apart.has(id))
    const room = ((queue.shown[index + 1]?.place ?? pair.place + 1) - pair.place) / all.length
    return all.map((one, at) => ({ ...one, place: pair.place + at * room }))
  })
  return { ...queue, apart, shown, left: queue.left + shown.length - queue.shown.length }
}

function moved(queue: Queue, by: number): Queue {
  const { index } = around(queue, 0)
  const to = queue.shown[Math.max(0, Math.min(queue.shown.length - 1, index + by))]
  return to ? leave(queue, to.id) : queue
}

/** Go to another pair; one that somebody else has taken goes when its reader does. */
function leave(queue: Queue, id: string): Queue {
  if (id === queue.current) return queue
  const was = queue.current
  if (was === undefined || !queue.taken.has(was)) return { ...queue, current: id }
  return { ...without(queue, was, "taken"), current: id }
}

function decided(queue: Queue, id: string, decision: Decision, at: number): Queue {
  const pair = queue.shown.find((one) => one.id === id)
  if (!pair) return queue
  if (queue.taken.has(id)) return without(queue, id, "taken")
  const isSkip = decision === "skipped"
  return {
    ...without(queue, id, decision),
    steps: [...queue.steps, { kind: "one", decision, list: queue.list, pair }],
    left: isSkip ? queue.left : queue.left - 1,
    pairsLeft: isSkip ? queue.pairsLeft : queue.pairsLeft - idsOf(pair).length,
    done: isSkip ? queue.done : queue.done + 1,
    times: isSkip ? queue.times : [...queue.times, at],
  }
}

/** Take a pair off the list; who read it reads the next one, at the end the one before. */
function without(queue: Queue, id: string, why: Decision | "taken"): Queue {
  const index = queue.shown.findIndex((one) => one.id === id)
  const pair = queue.shown[index]
  const out = new Map(queue.out)
  for (const one of pair && why !== "taken" ? idsOf(pair) : [id]) out.set(one, why)
  if (!pair) return { ...queue, out }
  // What somebody else has taken leaves its variants behind.
  const shown = queue.shown.toSpliced(index, 1, ...remaining(pair, (one) => !out.has(one)))
  const current = queue.current === id ? (shown[index] ?? shown[index - 1])?.id : queue.current
  return { ...queue, shown, current, out, taken: less(queue.taken, id), failures: less(queue.failures, id) }
}

function back(queue: Queue, pair: Placed): Queue {
  const out = idsOf(pair).reduce(less<Decision | "taken">, queue.out)
  if (queue.shown.some(({ id }) => id === pair.id)) return { ...queue, out }
  const after = queue.shown.findIndex(({ place }) => place >= pair.place)
  const shown = queue.shown.toSpliced(after < 0 ? queue.shown.length : after, 0, pair)
  return { ...queue, out, shown, current: queue.current ?? pair.id }
}

/** Put first what is pending again as soon as the server knows it. */
function returned(queue: Queue, pair: Pair): Queue {
  if (queue.shown.some(({ id }) => id === pair.id)) return queue
  return {
    ...back(queue, { ...pair, place: -0.5 }),
    left: queue.left + 1,
    pairsLeft: queue.pairsLeft + idsOf(pair).length,
  }
}

function undone(queue: Queue): Queue {
  const step = queue.steps.at(-1)
  if (!step) return queue
  const steps = queue.steps.slice(0, -1)
  if (step.kind === "many") {
    const times = queue.times.filter((at) => at !== step.at)
    return { ...queue, steps, done: Math.max(0, queue.done - step.count), times }
  }
  // In another list than it was decided in, it stands before what is read now.
  const here = around(queue, 0).pair?.place ?? 0
  const pair = step.list === queue.list ? step.pair : { ...step.pair, place: here - 0.5 }
  const before = { ...back(queue, pair), steps, current: pair.id }
  const next = step.decision === "skipped" ? before : uncounted(before, pair)
  return queue.taken.has(pair.id) ? { ...next, left: next.left - 1, pairsLeft: next.pairsLeft - 1 } : next
}

function uncounted(queue: Queue, pair: Pair): Queue {
  const pairsLeft = queue.pairsLeft + idsOf(pair).length
  return {
    ...queue,
    pairsLeft,
    left: queue.left + 1,
    done: Math.max(0, queue.done - 1),
    times: queue.times.slice(0, -1),
  }
}

function failed(queue: Queue, id: string, message: string): Queue {
  const index = queue.steps.findLastIndex((step) => step.kind === "one" && step.pair.id === id)
  const step = queue.steps[index]
  if (step?.kind !== "one") return queue
  const before = back({ ...queue, steps: queue.steps.toSpliced(index, 1) }, step.pair)
  return uncounted({ ...before, failures: new Map(queue.failures).set(id, message) }, step.pair)
}

function undoFailed(queue: Queue, pair: Pair, decision: Decision, at: number): Queue {
  const next = decided(queue, pair.id, decision, at)
  return { ...next, steps: queue.steps }
}

function taken(queue: Queue, ids: readonly string[], by: Taken, mine: boolean): Queue {
  let next = queue
  for (const id of ids) next = takenOne(next, id, by, mine)
  return next
}

function takenOne(queue: Queue, id: string, by: Taken, mine: boolean): Queue {
  const shown = queue.shown.find((one) => one.id === id)
  if (shown && queue.taken.has(id)) return queue
  if (shown) {
    const left = Math.max(0, queue.left - (shown.variants?.length ? 0 : 1))
    const marked = { ...queue, left, pairsLeft: Math.max(left, queue.pairsLeft - 1) }
    if (queue.current !== id) return without(marked, id, "taken")
    return { ...marked, taken: new Map(queue.taken).set(id, by) }
  }
  const group = queue.shown.findIndex(({ variants }) => variants?.some((one) => one.id === id))
  const of = queue.shown[group]
  if (of) {
    const variants = of.variants?.filter((one) => one.id !== id) ?? []
    const isGone = variants.length === 0 && queue.taken.has(of.id)
    const counts = { left: queue.left - (isGone ? 1 : 0), pairsLeft: queue.pairsLeft - 1 }
    return { ...queue, ...counts, shown: queue.shown.with(group, { ...of, variants }) }
  }
  if (!queue.out.has(id)) return queue
  // It was decided here as well; whoever takes that back is told.
  if (!mine) return { ...queue, taken: new Map(queue.taken).set(id, by) }
  // My own decision came too late: it is neither mine to count nor mine to undo.
  const out = new Map(queue.out).set(id, "taken" as const)
  const steps = queue.steps.filter((step) => step.kind !== "one" || step.pair.id !== id)
  if (steps.length === queue.steps.length) return { ...queue, out }
  return { ...queue, steps, out, done: Math.max(0, queue.done - 1), times: queue.times.slice(0, -1) }
}

/** Know that a review was undone elsewhere: the pair may be listed again. */
function reopened(queue: Queue, ids: readonly string[]): Queue {
  const returned = ids.filter((id) => queue.taken.has(id) || queue.out.has(id))
  if (returned.length === 0) return queue
  const [out, marks] = [new Map(queue.out), new Map(queue.taken)]
  for (const id of returned) {
    out.delete(id)
    marks.delete(id)
  }
  const steps = queue.steps.filter((step) => step.kind !== "one" || !ids.includes(step.pair.id))
  return {
    ...queue,
    steps,
    out,
    taken: marks,
    left: queue.left + returned.length,
    pairsLeft: queue.pairsLeft + returned.length,
  }
}

function skipsReturned(queue: Queue): Queue {
  let next = queue
  for (const step of queue.steps) {
    if (step.kind === "one" && queue.out.get(step.pair.id) === "skipped") next = back(next, step.pair)
  }
  const steps = queue.steps.filter((step) => step.kind !== "one" || step.decision !== "skipped")
  return { ...next, steps, current: next.shown[0]?.id }
}

function less<T>(map: ReadonlyMap<string, T>, id: string): ReadonlyMap<string, T> {
  if (!map.has(id)) return map
  const rest = new Map(map)
  rest.delete(id)
  return rest
}
