import type { Cell, Matrix } from "./decode"
import { type Band, draw, WITH_LABELS } from "./frame"
import type { Axis, Label } from "./labels"
import { Minimap } from "./minimap"
import { type Palette, readPalette } from "./palette"
import { Pixels } from "./pixels"
import { pyramidOf } from "./pyramid"
import {
  type Area,
  cellAt,
  clamped,
  fitting,
  framing,
  inSight,
  type Range,
  showing,
  type View,
  within,
  zoomed,
} from "./view"

export type Listener = {
  onFocus: (cell: Cell) => void
  onOpen: () => void
  /** The cell below the pointer, and where that is. */
  onHover: (cell: Cell | undefined, x: number, y: number) => void
  onView: (view: View) => void
  label: (axis: Axis, index: number) => Label | undefined
}

const READABLE = 16
const LOW = 420
const CLICK_PIXELS = 4
const ZOOM_A_PIXEL = 0.0018
const LINE_PIXELS = 16

const isIn = ({ from, to }: Range, index: number) => index >= from && index < to

/** The matrix on a canvas: cells of any size, headers that stay, and a small map of the whole. */
export class Heatmap {
  private readonly context: CanvasRenderingContext2D
  private readonly stop = new AbortController()
  private readonly pointers = new Map<number, { x: number; y: number }>()
  private palette: Palette
  private pixels: Pixels
  private minimap: Minimap
  private frame = 0
  private area: Area = { width: 0, height: 0 }
  private left = 0
  private top = 0
  private dragged = 0
  private isJumping = false
  private hover: Cell | undefined
  private hasFocus = false
  private bands: Record<Axis, Band[]> = { row: [], column: [] }
  private wanted: { rows: Range; columns: Range } | undefined
  view: View = { row: 0, column: 0, size: 0 }

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly probe: HTMLElement,
    private matrix: Matrix,
    private focus: Cell,
    private readonly listener: Listener,
  ) {
    this.context = canvas.getContext("2d", { alpha: false }) as CanvasRenderingContext2D
    this.palette = readPalette(probe, matrix.shows)
    const pyramid = pyramidOf(matrix)
    this.pixels = new Pixels(matrix, pyramid)
    this.minimap = new Minimap(matrix, pyramid)
    const sizes = new ResizeObserver(() => this.resize())
    sizes.observe(canvas)
    this.stop.signal.addEventListener("abort", () => sizes.disconnect())
    this.listen()
  }

  destroy(): void {
    this.stop.abort()
    cancelAnimationFrame(this.frame)
  }

  /** Show another state of the record at the same place. */
  change(matrix: Matrix): void {
    if (matrix === this.matrix) return
    const pyramid = pyramidOf(matrix)
    if (matrix.shows !== this.matrix.shows) this.palette = readPalette(this.probe, matrix.shows)
    this.matrix = matrix
    this.pixels = new Pixels(matrix, pyramid)
    this.minimap = new Minimap(matrix, pyramid)
    this.moveTo(clamped(this.view, this.area, matrix))
    this.focusOn(this.focus)
  }

  /** Read the colours again: the theme has changed. */
  restyle(): void {
    this.palette = readPalette(this.probe, this.matrix.shows)
    this.minimap.restyle()
    this.redraw()
  }

  setBands(bands: Record<Axis, Band[]>): void {
    this.bands = bands
    this.redraw()
  }

  setFocused(hasFocus: boolean): void {
    this.hasFocus = hasFocus
    this.redraw()
  }

  /** How many rows are in sight. */
  get page(): number {
    return Math.max(1, Math.floor(this.area.height / this.view.size) - 1)
  }

  /** Make a cell the one that keys work on, and have it in sight. */
  focusOn(cell: Cell): void {
    this.focus = within(cell, this.matrix)
    if (this.area.width > 0) this.moveTo(showing(this.view, this.focus, this.area, this.matrix))
    this.listener.onFocus(this.focus)
    this.redraw()
  }

  /** Make cells larger or smaller around the focused one, or else the middle. */
  zoom(factor: number): void {
    const x = (this.focus.column + 0.5 - this.view.column) * this.view.size
    const y = (this.focus.row + 0.5 - this.view.row) * this.view.size
    const isInSight = x >= 0 && y >= 0 && x <= this.area.width && y <= this.area.height
    this.zoomAt(factor, isInSight ? x : this.area.width / 2, isInSight ? y : this.area.height / 2)
  }

  /** Show these rows and columns; before the size of the canvas is known, as soon as it is. */
  show(rows: Range, columns: Range): void {
    this.wanted = { rows, columns }
    if (this.area.width > 0) this.moveTo(framing(rows, columns, this.area, this.matrix))
  }

  showAll(): void {
    this.show({ from: 0, to: this.matrix.rows }, { from: 0, to: this.matrix.columns })
  }

  redraw(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0
      this.paint()
    })
  }

  private zoomAt(factor: number, x: number, y: number): void {
    this.moveTo(zoomed(this.view, factor, x, y, this.area, this.matrix))
  }

  private moveTo(view: View): void {
    this.view = view
    this.listener.onView(view)
    this.redraw()
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas
    if (width === 0 || height === 0) return
    this.left = Math.round(Math.min(260, Math.max(136, width * 0.24)))
    this.top = height < LOW ? 88 : 116
    this.canvas.width = Math.round(width * devicePixelRatio)
    this.canvas.height = Math.round(height * devicePixelRatio)
    const isFirst = this.area.width === 0
    const { rows, columns } = inSight(this.view, this.area, this.matrix)
    const wasInSight = isIn(rows, this.focus.row) && isIn(columns, this.focus.column)
    this.area = { width: Math.max(1, width - this.left), height: Math.max(1, height - this.top) }
    this.canvas.dataset.origin = `${this.left} ${this.top}`
    if (isFirst && this.wanted) this.moveTo(framing(this.wanted.rows, this.wanted.columns, this.area, this.matrix))
    else if (isFirst) this.begin()
    else if (wasInSight) this.moveTo(showing(this.view, this.focus, this.area, this.matrix))
    else this.moveTo(clamped(this.view, this.area, this.matrix))
    this.paint()
  }

  /** Begin at the focused cell: at the size that was asked for, or else with all in sight, as long as it can be read. */
  private begin(): void {
    const size = this.view.size || Math.max(fitting(this.area, this.matrix), READABLE)
    this.moveTo(
      showing(clamped({ row: 0, column: 0, size }, this.area, this.matrix), this.focus, this.area, this.matrix),
    )
  }

  private paint(): void {
    if (this.area.width === 0) return
    const { matrix, pixels, view, area, left, top, focus, hasFocus, hover, palette, bands } = this
    const { label } = this.listener
    const frame = { matrix, pixels, view, area, left, top, focus, hasFocus, hover, palette, bands, label }
    draw(this.context, frame, devicePixelRatio)
    this.minimap.draw(this.context, frame)
  }

  private listen(): void {
    const { signal } = this.stop
    const on = <K extends keyof HTMLElementEventMap>(name: K, run: (event: HTMLElementEventMap[K]) => void) =>
      this.canvas.addEventListener(name, run, { signal, passive: name !== "wheel" })
    on("wheel", (event) => this.wheel(event))
    on("pointerdown", (event) => this.press(event))
    on("pointermove", (event) => this.move(event))
    on("pointerup", (event) => this.release(event))
    on("pointercancel", (event) => void this.pointers.delete(event.pointerId))
    on("pointerleave", () => this.hoverOver(undefined, 0, 0))
    on("dblclick", (event) => this.doubleClick(event))
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.restyle(), { signal })
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault()
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PIXELS : 1
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit]
    const { x, y } = this.inArea(event)
    // A pinch on a touchpad arrives as a wheel with Ctrl; what goes sideways, or has Shift, moves.
    if (!event.ctrlKey && (event.shiftKey || Math.abs(dx) > Math.abs(dy))) this.pan(event.shiftKey && !dx ? dy : dx, 0)
    else this.zoomAt(Math.exp(-dy * ZOOM_A_PIXEL * (event.ctrlKey ? 4 : 1)), Math.max(0, x), Math.max(0, y))
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0) return
    this.canvas.setPointerCapture(event.pointerId)
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY })
    this.dragged = 0
    this.isJumping = this.jump(event)
  }

  private move(event: PointerEvent): void {
    const before = this.pointers.get(event.pointerId)
    if (!before) {
      const { x, y } = this.inArea(event)
      const isBeside = x < 0 || y < 0 || this.minimap.placeAt(event.offsetX, event.offsetY)
      this.hoverOver(isBeside ? undefined : cellAt(this.view, x, y, this.matrix), event.offsetX, event.offsetY)
      return
    }
    if (this.isJumping) {
      this.jump(event)
      return
    }
    const [dx, dy] = [event.offsetX - before.x, event.offsetY - before.y]
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1]
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY })
    this.dragged += Math.abs(dx) + Math.abs(dy)
    if (other) {
      const apart = Math.hypot(event.offsetX - other.x, event.offsetY - other.y)
      const factor = apart / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y))
      this.zoomAt(factor, (event.offsetX + other.x) / 2 - this.left, (event.offsetY + other.y) / 2 - this.top)
    } else if (this.dragged > CLICK_PIXELS) this.pan(-dx, -dy)
  }

  private release(event: PointerEvent): void {
    this.pointers.delete(event.pointerId)
    if (this.dragged > CLICK_PIXELS || this.isJumping) return
    const { x, y } = this.inArea(event)
    const cell = cellAt(this.view, Math.max(0, x), Math.max(0, y), this.matrix)
    if (cell) this.focusOn({ row: y < 0 ? this.focus.row : cell.row, column: x < 0 ? this.focus.column : cell.column })
  }

  private doubleClick(event: MouseEvent): void {
    const { x, y } = this.inArea(event)
    if (x < 0 || y < 0) return
    if (this.view.size >= WITH_LABELS / 2) this.listener.onOpen()
    else this.zoomAt(READABLE / this.view.size, x, y)
  }

  private pan(dx: number, dy: number): void {
    const { row, column, size } = this.view
    this.moveTo(clamped({ size, row: row + dy / size, column: column + dx / size }, this.area, this.matrix))
  }

  /** Go to where the minimap was pressed; return whether it was. */
  private jump({ offsetX, offsetY }: PointerEvent): boolean {
    const place = this.minimap.placeAt(offsetX, offsetY)
    if (!place) return false
    const { size } = this.view
    const middle = { row: place.row - this.area.height / size / 2, column: place.column - this.area.width / size / 2 }
    this.moveTo(clamped({ size, ...middle }, this.area, this.matrix))
    return true
  }

  private hoverOver(cell: Cell | undefined, x: number, y: number): void {
    const isSame = cell?.row === this.hover?.row && cell?.column === this.hover?.column
    this.hover = cell
    this.listener.onHover(cell, x, y)
    if (!isSame) this.redraw()
  }

  private inArea({ offsetX, offsetY }: MouseEvent): { x: number; y: number } {
    return { x: offsetX - this.left, y: offsetY - this.top }
  }
}
