import { hierarchy, treemap, treemapSquarify } from "d3-hierarchy"
import type { ModuleVerdicts } from "./queries"

const MOST = 60
const NARROW = 5
const LETTER = 7.3

/** A module in the map; `module` is undefined for the small ones that are put together. */
export type Tile = {
  module: string | null | undefined
  modules: number
  all: number
  verified: number
  failed: number
  suspect: number
  x: number
  y: number
  width: number
  height: number
}

type Figures = Pick<Tile, "module" | "modules" | "all" | "verified" | "failed" | "suspect">

/** Return the tiles of modules in a rectangle, the largest first; of very many the smallest are one. */
export function layTiles(modules: ModuleVerdicts[], width: number, height: number): Tile[] {
  const root = hierarchy<{ children?: Figures[] } & Partial<Figures>>({ children: figuresOf(modules) })
    .sum(({ all = 0 }) => all)
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0))
  const laid = treemap<{ children?: Figures[] } & Partial<Figures>>()
    .tile(treemapSquarify.ratio(1.4))
    .size([width, height])
    .paddingInner(3)
    .round(true)(root)
  return (laid.children ?? []).map(({ data, x0, x1, y0, y1 }) => ({
    ...(data as Figures),
    x: x0,
    y: y0,
    width: x1 - x0,
    height: y1 - y0,
  }))
}

function figuresOf(modules: ModuleVerdicts[]): Figures[] {
  const all = modules
    .map(({ module, total_requirements, requirements, suspect_links }) => ({
      module,
      modules: 1,
      all: total_requirements,
      verified: requirements.passed,
      failed: requirements.failed,
      suspect: suspect_links,
    }))
    .sort((a, b) => b.all - a.all)
  if (all.length <= MOST) return all
  const sum = (name: "all" | "verified" | "failed" | "suspect") =>
    all.slice(MOST - 1).reduce((before, one) => before + one[name], 0)
  const others = {
    module: undefined,
    modules: all.length - MOST + 1,
    all: sum("all"),
    verified: sum("verified"),
    failed: sum("failed"),
    suspect: sum("suspect"),
  }
  return [...all.slice(0, MOST - 1), others]
}

/** Return which of five steps a share is: 0 only for none, 4 only for all. */
export function stepOf(share: number): number {
  if (share <= 0) return 0
  return share >= 1 ? 4 : Math.min(3, 1 + Math.floor(share * 3))
}

/** Return as much of a text as has room in a width. */
export function fitted(text: string, width: number): string {
  const room = Math.floor(width / LETTER)
  if (text.length <= room) return text
  return room < NARROW ? "" : `${text.slice(0, room - 1)}…`
}
