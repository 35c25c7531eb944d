import { type Matrix, SHOWN_AS, type Shows } from "./decode"
import { rampAt, STRENGTHS } from "./pyramid"

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
  passed: "--verdict-passed",
  stale: "--verdict-stale",
  flaky: "--verdict-flaky",
  failed: "--verdict-failed",
  notRun: "--verdict-not-run",
}
const WEAKEST = 0.35
const GAP = 0.55

type Colour = [red: number, green: number, blue: number]
type Colours = Record<keyof typeof NAMES, string>

/** The colours of the theme as a canvas takes them; by state where there are several. */
export type Palette = Colours & {
  /** Of cells without a shape. */
  strong: string[]
  /** Of cells around their shape, and of the shape. */
  around: string[]
  shape: string[]
  font: string
  /** As one number each, as ImageData has them. */
  pixels: { page: number; strong: Uint32Array; ramp: Uint32Array }
}

/** Read the colours as they are now; `probe` is an element of the page that shows nothing. */
export function readPalette(probe: HTMLElement, shows: Shows): Palette {
  // Where readers have colours of their own, a canvas keeps its own all the same: there each would become one.
  probe.style.setProperty("forced-color-adjust", "none")
  // The custom properties themselves still say light-dark(): only a colour that is in use is one of the two.
  const computed = getComputedStyle(probe)
  const colours = Object.fromEntries(
    Object.entries(NAMES).map(([name, property]) => {
      probe.style.setProperty("color", `var(${property})`)
      return [name, computed.color]
    }),
  ) as Colours
  const { strong, around, shape } = shows === "links" ? ofLinks(colours) : ofResults(colours)
  const page = parsed(colours.page)
  const gap = mixed(page, parsed(colours.gap), GAP)
  const ramp = new Uint32Array(SHOWN_AS[shows].length * (STRENGTHS + 1))
  SHOWN_AS[shows].forEach((state, counted) => {
    for (let strength = 1; strength <= STRENGTHS; strength++) {
      const share = WEAKEST + ((1 - WEAKEST) * (strength - 1)) / (STRENGTHS - 1)
      ramp[rampAt(counted, strength)] = state ? pixel(mixed(page, parsed(strong[state] as string), share)) : 0
    }
  })
  return {
    ...colours,
    gap: `rgb(${gap.map(Math.round).join(" ")})`,
    strong,
    around,
    shape,
    font: computed.fontFamily,
    pixels: {
      page: pixel(page),
      strong: Uint32Array.from(strong, (colour) => (colour ? pixel(parsed(colour)) : 0)),
      ramp,
    },
  }
}

function ofLinks({ covered, suspect, pending, coveredSoft, suspectSoft, pendingSoft }: Colours) {
  const strong = ["", covered, suspect, pending]
  return { strong, around: ["", coveredSoft, suspectSoft, pendingSoft], shape: strong }
}

function ofResults({ page, text, passed, stale, flaky, failed, notRun }: Colours) {
  const strong = ["", passed, stale, flaky, failed, notRun, notRun]
  const distance = (one: string, other: string) => Math.abs(lightness(parsed(one)) - lightness(parsed(other)))
  const shape = strong.map((colour) => (distance(colour, page) > distance(colour, text) ? page : text))
  return { strong, around: strong, shape }
}

/** Return how many of some rows are gaps. */
export function gapsIn({ gapsBefore, rows }: Matrix, from: number, to: number): number {
  return (gapsBefore[Math.min(to, rows)] as number) - (gapsBefore[Math.min(from, rows)] as number)
}

function parsed(colour: string): Colour {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number)
  return [red, green, blue]
}

const lightness = ([red, green, blue]: Colour) => 0.3 * red + 0.59 * green + 0.11 * blue

function mixed(one: Colour, other: Colour, share: number): Colour {
  return one.map((value, at) => value + ((other[at] as number) - value) * share) as Colour
}

function pixel([red, green, blue]: Colour): number {
  return ((255 << 24) | (Math.round(blue) << 16) | (Math.round(green) << 8) | Math.round(red)) >>> 0
}
