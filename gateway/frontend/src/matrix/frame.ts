import { type State as Look, SHAPES } from "../kit/badge"
import { type Cell, firstFrom, isGap, type Matrix } from "./decode"
import { type Axis, type Label, shortName, stateOf } from "./labels"
import { LOOKS } from "./looks"
import { gapsIn, type Palette } from "./palette"
import type { Pixels } from "./pixels"
import { type Area, inSight, type Range, type View } from "./view"

/** A module at an axis. */
export type Band = Range & { module: string | null; name: string }
export type Frame = {
  matrix: Matrix
  pixels: Pixels
  view: View
  /** Of the cells; the headers are at its left and above. */
  area: Area
  left: number
  top: number
  focus: Cell
  hasFocus: boolean
  hover: Cell | undefined
  palette: Palette
  label: (axis: Axis, index: number) => Label | undefined
  bands: Record<Axis, Band[]>
}

const WITH_SHAPES = 8
const AS_RECTANGLES = 6
export const WITH_LABELS = 12
const BAND_LINES = 2
const SIGN_WIDTH = 16
const GAP_LINE = 3
const NO_LINK = "○ "

/** Draw everything: cells, what is marked, headers. The unit of the context is a CSS pixel. */
export function draw(context: CanvasRenderingContext2D, frame: Frame, ratio: number): void {
  const { area, left, top, palette, view } = frame
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  context.fillStyle = palette.page
  context.fillRect(0, 0, left + area.width, top + area.height)
  if (view.size < AS_RECTANGLES) drawPixels(context, frame, ratio)
  context.save()
  context.beginPath()
  context.rect(left, top, area.width, area.height)
  context.clip()
  context.translate(left, top)
  if (view.size >= AS_RECTANGLES) drawCells(context, frame)
  drawBandLines(context, frame)
  drawMarks(context, frame)
  context.restore()
  drawHeader(context, frame, "row")
  drawHeader(context, frame, "column")
}

function drawPixels(
  context: CanvasRenderingContext2D,
  { pixels, view, area, left, top, palette }: Frame,
  ratio: number,
) {
  const device = { width: Math.ceil(area.width * ratio), height: Math.ceil(area.height * ratio) }
  const image = pixels.paint({ ...view, size: view.size * ratio }, device, palette)
  context.putImageData(image, Math.round(left * ratio), Math.round(top * ratio))
}

function drawCells(context: CanvasRenderingContext2D, { matrix, view, area, palette, hover }: Frame): void {
  const { rows, columns } = inSight(view, area, matrix)
  const right = Math.min(area.width, (matrix.columns - view.column) * view.size)
  const bottom = Math.min(area.height, (matrix.rows - view.row) * view.size)
  const hasShapes = view.size >= WITH_SHAPES
  if (hasShapes) drawGrid(context, view, rows, columns, right, bottom, palette)
  if (hover) drawCross(context, view, hover, palette)
  const looks = LOOKS[matrix.shows]
  for (let state = 1; state < looks.length; state++) {
    const squares = new Path2D()
    const shapes = new Path2D()
    for (let row = rows.from; row < rows.to; row++) {
      const end = matrix.offsets[row + 1] as number
      const y = (row - view.row) * view.size
      for (let at = firstFrom(matrix, row, columns.from); at < end; at++) {
        const column = matrix.columnOf[at] as number
        if (column >= columns.to) break
        if (matrix.states[at] !== state) continue
        const x = (column - view.column) * view.size
        squares.rect(x + 0.5, y + 0.5, view.size - 1, view.size - 1)
        if (hasShapes) addShape(shapes, looks[state] as Look, x + view.size / 2, y + view.size / 2, view.size * 0.3)
      }
    }
    context.fillStyle = (hasShapes ? palette.around : palette.strong)[state] as string
    context.fill(squares)
    context.fillStyle = palette.shape[state] as string
    context.fill(shapes)
  }
}

/** Lead from both headers to a cell. */
function drawCross(context: CanvasRenderingContext2D, view: View, { row, column }: Cell, palette: Palette): void {
  const [x, y] = [(column - view.column) * view.size, (row - view.row) * view.size]
  context.fillStyle = palette.selected
  context.globalAlpha = 0.7
  context.fillRect(0, y, x, view.size)
  context.fillRect(x, 0, view.size, y)
  context.globalAlpha = 1
}

const POINTS: Partial<Record<Look, number[]>> = {
  suspect: [0, -1.1, 1.15, 0.95, -1.15, 0.95],
  pending: [0, -1.25, 1.25, 0, 0, 1.25, -1.25, 0],
  failed: [-1, -0.7, -0.7, -1, 0, -0.3, 0.7, -1, 1, -0.7, 0.3, 0, 1, 0.7, 0.7, 1, 0, 0.3, -0.7, 1, -1, 0.7, -0.3, 0],
}

/** ● ▲ ◆ ✕ ○ as everywhere in the page. */
function addShape(path: Path2D, look: Look, x: number, y: number, radius: number): void {
  const points = POINTS[look]
  if (!points) {
    path.moveTo(x + radius, y)
    path.arc(x, y, radius, 0, 2 * Math.PI)
    if (look === "covered") return
    path.moveTo(x + radius * 0.6, y)
    path.arc(x, y, radius * 0.6, 0, 2 * Math.PI, true)
    return
  }
  for (let at = 0; at < points.length; at += 2) {
    const [px, py] = [x + (points[at] as number) * radius, y + (points[at + 1] as number) * radius]
    if (at === 0) path.moveTo(px, py)
    else path.lineTo(px, py)
  }
  path.closePath()
}

function drawGrid(
  context: CanvasRenderingContext2D,
  view: View,
  rows: Range,
  columns: Range,
  right: number,
  bottom: number,
  palette: Palette,
): void {
  context.fillStyle = palette.line
  context.globalAlpha = Math.min(1, (view.size - WITH_SHAPES) / 8 + 0.35)
  for (let row = rows.from; row <= rows.to; row++) context.fillRect(0, crisp((row - view.row) * view.size), right, 1)
  for (let column = columns.from; column <= columns.to; column++) {
    context.fillRect(crisp((column - view.column) * view.size), 0, 1, bottom)
  }
  context.globalAlpha = 1
}

function drawBandLines(context: CanvasRenderingContext2D, { bands, view, area, matrix, palette }: Frame): void {
  context.fillStyle = palette.lineStrong
  context.globalAlpha = view.size < 1 ? 0.25 : 0.5
  const right = Math.min(area.width, (matrix.columns - view.column) * view.size)
  const bottom = Math.min(area.height, (matrix.rows - view.row) * view.size)
  for (const { to, from } of bands.row) {
    const y = crisp((to - view.row) * view.size)
    if ((to - from) * view.size >= BAND_LINES && y > 0 && y < area.height) context.fillRect(0, y, right, 1)
  }
  for (const { to, from } of bands.column) {
    const x = crisp((to - view.column) * view.size)
    if ((to - from) * view.size >= BAND_LINES && x > 0 && x < area.width) context.fillRect(x, 0, 1, bottom)
  }
  context.globalAlpha = 1
}

function drawMarks(context: CanvasRenderingContext2D, { focus, hover, hasFocus, view, area, palette }: Frame): void {
  const box = ({ row, column }: Cell) => {
    const [x, y] = [(column - view.column) * view.size, (row - view.row) * view.size]
    const grow = Math.max(0, 9 - view.size) / 2
    return [x - grow, y - grow, view.size + 2 * grow, view.size + 2 * grow] as const
  }
  if (hover) {
    const [x, y, width, height] = box(hover)
    context.strokeStyle = palette.lineStrong
    context.lineWidth = 1
    context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1)
  }
  const [x, y, width, height] = box(focus)
  if (x > area.width || y > area.height || x + width < 0 || y + height < 0) return
  context.strokeStyle = hasFocus ? palette.focus : palette.lineStrong
  context.lineWidth = 2
  context.strokeRect(x, y, width, height)
}

function drawHeader(context: CanvasRenderingContext2D, frame: Frame, axis: Axis): void {
  const { area, left, top, palette, view } = frame
  context.save()
  context.beginPath()
  if (axis === "row") {
    context.rect(0, top, left, area.height)
    context.clip()
    context.translate(0, top)
  } else {
    context.rect(left, 0, area.width, top)
    context.clip()
    // Turned, so that columns are written as rows are.
    context.translate(left, top)
    context.rotate(-Math.PI / 2)
  }
  context.textBaseline = "middle"
  const header = axis === "row" ? { length: area.height, depth: left } : { length: area.width, depth: top }
  if (view.size >= WITH_LABELS) drawLabels(context, frame, axis, header)
  else drawBands(context, frame, axis, header)
  context.fillStyle = palette.line
  if (axis === "row") context.fillRect(header.depth - 1, 0, 1, header.length)
  else context.fillRect(0, 0, 1, header.length)
  context.restore()
}

type Header = { length: number; depth: number }

function drawLabels(context: CanvasRenderingContext2D, frame: Frame, axis: Axis, { depth }: Header): void {
  const { view, matrix, area, palette, focus, hover, label } = frame
  const range = inSight(view, area, matrix)[axis === "row" ? "rows" : "columns"]
  const start = axis === "row" ? view.row : view.column
  for (let index = range.from; index < range.to; index++) {
    const at = (index - start) * view.size
    const isMarked = index === focus[axis] || index === hover?.[axis]
    if (axis === "row" && isGap(matrix, index)) {
      context.fillStyle = palette.gap
      context.fillRect(0, at, depth, view.size)
    }
    if (isMarked) {
      context.fillStyle = palette.selected
      context.fillRect(0, at, depth, view.size)
    }
    const one = label(axis, index)
    if (!one) continue
    const isAlone = one.links === 0
    context.font = `${isMarked ? 600 : 400} ${Math.min(12, view.size - 2)}px ${palette.font}`
    context.fillStyle = isAlone ? palette.gapText : isMarked ? palette.text : palette.quiet
    const y = at + view.size / 2 + 0.5
    const state = stateOf(one)
    const name = axis === "row" && one.external_id ? `${one.external_id}  ${one.title}` : shortName(one)
    const x = state ? 6 + SIGN_WIDTH : 6
    context.fillText(cut(context, (isAlone ? NO_LINK : "") + name, depth - 8 - x), x, y)
    if (!state) continue
    context.fillStyle = state === "failed" ? palette.gapText : palette[state as "covered"]
    context.fillText(SHAPES[state], 6, y)
  }
}

/** Where cells are too small for a label each: the modules, named where there is room. */
function drawBands(context: CanvasRenderingContext2D, frame: Frame, axis: Axis, { length, depth }: Header): void {
  const { view, palette, focus, bands } = frame
  const start = axis === "row" ? view.row : view.column
  if (axis === "row") drawGaps(context, frame, length, depth)
  context.font = `400 12px ${palette.font}`
  let free = 0
  for (const { from, to, name } of bands[axis]) {
    const [begin, end] = [Math.max(0, (from - start) * view.size), Math.min(length, (to - start) * view.size)]
    if (end <= begin) continue
    const isMarked = focus[axis] >= from && focus[axis] < to
    if (isMarked) {
      context.fillStyle = palette.selected
      context.fillRect(0, begin, depth, end - begin)
    }
    if (end - begin >= BAND_LINES) {
      context.fillStyle = palette.line
      context.fillRect(0, crisp(end), depth, 1)
    }
    const middle = Math.max(begin + Math.min(9, (end - begin) / 2), free)
    if (middle > begin + 9 + (end - begin) / 2 || middle + 7 > length) continue
    context.fillStyle = isMarked ? palette.text : palette.quiet
    context.fillText(cut(context, name, depth - 14), 6, middle)
    free = middle + 15
  }
}

/** Where rows are too small for a label: a line beside the cells, where most of the rows at its height are gaps. */
function drawGaps(context: CanvasRenderingContext2D, frame: Frame, length: number, depth: number): void {
  const { view, matrix, palette } = frame
  context.fillStyle = palette.gapText
  for (let y = 0; y < length; y++) {
    const first = Math.floor(view.row + y / view.size)
    if (first >= matrix.rows) return
    const behind = Math.max(first + 1, Math.floor(view.row + (y + 1) / view.size))
    if (gapsIn(matrix, first, behind) * 2 > behind - first) context.fillRect(depth - 1 - GAP_LINE, y, GAP_LINE, 1)
  }
}

const CUT = new Map<string, string>()
const MOST_CUT = 4000

/** Return as much of a text as there is room for. */
function cut(context: CanvasRenderingContext2D, text: string, width: number): string {
  const key = `${context.font}\n${width}\n${text}`
  const known = CUT.get(key)
  if (known !== undefined) return known
  let result = text
  if (context.measureText(text).width > width) {
    let [low, high] = [0, text.length]
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle
      else high = middle - 1
    }
    result = `${text.slice(0, low).replace(/[\uD800-\uDBFF]$/, "")}…`
  }
  if (CUT.size > MOST_CUT) CUT.clear()
  CUT.set(key, result)
  return result
}

const crisp = (place: number) => Math.round(place)
