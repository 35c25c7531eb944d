import type { Matrix } from "./decode"

const NAMES = {
  page: "--page",
  text: "--text",
  quiet: "--text-quiet",
  line: "--line",
  lineStrong: "--line-strong",
  selected: "--selected",
  focus: "--focus",
  gap: "--failed-soft",
  gapText: "--failed",
  covered: "--covered",
  coveredSoft: "--covered-soft",
  suspect: "--suspect",
  suspectSoft: "--suspect-soft",
  pending: "--pending",
  pendingSoft: "--pending-soft",
}
const STRENGTHS = 8
const WEAKEST = 0.35
const GAP = 0.55

type Colour = [red: number, green: number, blue: number]

/** The colours of the theme as a canvas takes them; by state where there are several. */
export type Palette = Record<keyof typeof NAMES, string> & {
  strong: string[]
  soft: string[]
  font: string
  /** As one number each, as ImageData has them. */
  pixels: { page: number; gap: number; strong: Uint32Array; ramp: Uint32Array }
}

/** Read the colours as they are now; `probe` is an element of the page that shows nothing. */
export function readPalette(probe: HTMLElement): Palette {
  // The custom properties themselves still say light-dark(): only a colour that is in use is one of the two.
  const computed = getComputedStyle(probe)
  const colours = Object.fromEntries(
    Object.entries(NAMES).map(([name, property]) => {
      probe.style.setProperty("color", `var(${property})`)
      return [name, computed.color]
    }),
  ) as Record<keyof typeof NAMES, string>
  const strong = ["", colours.covered, colours.suspect, colours.pending]
  const soft = ["", colours.coveredSoft, colours.suspectSoft, colours.pendingSoft]
  const page = parsed(colours.page)
  const gap = mixed(page, parsed(colours.gap), GAP)
  const ramp = new Uint32Array(strong.length * (STRENGTHS + 1))
  strong.forEach((colour, state) => {
    for (let strength = 1; strength <= STRENGTHS; strength++) {
      const share = WEAKEST + ((1 - WEAKEST) * (strength - 1)) / (STRENGTHS - 1)
      ramp[rampAt(state, strength)] = state ? pixel(mixed(page, parsed(colour), share)) : 0
    }
  })
  return {
    ...colours,
    gap: `rgb(${gap.map(Math.round).join(" ")})`,
    strong,
    soft,
    font: computed.fontFamily,
    pixels: {
      page: pixel(page),
      gap: pixel(gap),
      strong: Uint32Array.from(strong, (colour) => (colour ? pixel(parsed(colour)) : 0)),
      ramp,
    },
  }
}

/** Return where in the ramp the colour of a state at a strength is. */
export function rampAt(state: number, strength: number): number {
  return state * (STRENGTHS + 1) + strength
}

/** Return how many of some rows are gaps. */
export function gapsIn({ gapsBefore, rows }: Matrix, from: number, to: number): number {
  return (gapsBefore[Math.min(to, rows)] as number) - (gapsBefore[Math.min(from, rows)] as number)
}

function parsed(colour: string): Colour {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number)
  return [red, green, blue]
}

function mixed(one: Colour, other: Colour, share: number): Colour {
  return one.map((value, at) => value + ((other[at] as number) - value) * share) as Colour
}

function pixel([red, green, blue]: Colour): number {
  return ((255 << 24) | (Math.round(blue) << 16) | (Math.round(green) << 8) | Math.round(red)) >>> 0
}
