import type { components } from "../api/schema"
import { STATES, type Verdict } from "../results/verdict"
import { words } from "../results/words"
import type { Range } from "./view"

export type Axis = components["schemas"]["Axis"]
/** `verdict` where something was executed. */
export type Label = components["schemas"]["AxisItem"] & { verdict?: Verdict }
type Read = (axis: Axis, range: Range) => Promise<Label[]>

const WINDOW = 500

/** Labels of both axes, read in windows when they are first asked for. */
export class Labels {
  private windows = new Map<string, Label[] | undefined>()
  private before = new Map<string, Label[] | undefined>()

  /** `onRead` is called whenever there are more of them. */
  constructor(
    private read: Read,
    private readonly onRead: () => void,
  ) {}

  /** Read them anew when they are next asked for, and give those of before until then. */
  renew(read: Read): void {
    this.read = read
    this.before = new Map([...this.before, ...this.windows])
    this.windows = new Map()
  }

  /** Return a label; undefined while it is on its way, which it is from now on. */
  of(axis: Axis, index: number): Label | undefined {
    const from = index - (index % WINDOW)
    const key = `${axis}${from}`
    if (!this.windows.has(key)) void this.fill(key, axis, from)
    return (this.windows.get(key) ?? this.before.get(key))?.[index - from]
  }

  private async fill(key: string, axis: Axis, from: number): Promise<void> {
    const { windows } = this
    windows.set(key, undefined)
    try {
      windows.set(key, await this.read(axis, { from, to: from + WINDOW }))
      this.onRead()
    } catch {
      windows.delete(key)
    }
  }
}

/** Return what an item is called where there is little room. */
export const shortName = (label: Label | undefined) => label?.external_id ?? label?.title ?? ""
/** Return what an item is called in full. */
export const fullName = ({ external_id, title, verdict }: Label) =>
  `${external_id ? `${external_id} ` : ""}${title}${verdict ? ` (${words.states[verdict]})` : ""}`
/** Return what a verdict is shown by, where it says more than that nothing ran. */
export const stateOf = ({ verdict }: Label) => (verdict && STATES[verdict] !== "none" ? STATES[verdict] : undefined)
