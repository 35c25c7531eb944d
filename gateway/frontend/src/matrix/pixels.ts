import { COUNTS_AS, firstFrom, type Matrix, type Sparse, type State } from "./decode"
import type { Palette } from "./palette"
import { type Level, lookOf, withOne } from "./pyramid"
import type { Area, View } from "./view"

/** Paints cells that are too small for a shape: pixel by pixel into one image. Its area and sizes are device pixels. */
export class Pixels {
  private image = new ImageData(1, 1)
  private out = new Uint32Array(this.image.data.buffer)
  private tallies = new Uint32Array(1)

  constructor(
    private readonly matrix: Matrix,
    private readonly pyramid: Level[],
  ) {}

  paint(view: View, { width, height }: Area, palette: Palette): ImageData {
    if (this.image.width !== width || this.image.height !== height) {
      this.image = new ImageData(width, height)
      this.out = new Uint32Array(this.image.data.buffer)
      this.tallies = new Uint32Array(width * height)
    }
    this.out.fill(palette.pixels.page)
    const { row, column, size } = view
    const level = this.pyramid.find(({ shift }) => 2 ** shift * size >= 1)
    const side = 2 ** (level?.shift ?? 0)
    const ofBlocks = { row: row / side, column: column / side, size: size * side }
    if (size >= 1) this.cells(this.matrix, view, width, height, palette.pixels.strong)
    else if (level && ofBlocks.size < 2) this.cells(level, ofBlocks, width, height, palette.pixels.ramp)
    else this.counted(view, width, height, palette)
    return this.image
  }

  /** Cells, or blocks of them, of one pixel at least. */
  private cells(
    sparse: Sparse,
    { row, column, size }: View,
    width: number,
    height: number,
    colours: Uint32Array,
  ): void {
    const { out } = this
    const { rows, offsets, columnOf, states } = sparse
    const last = Math.min(rows, Math.ceil(row + height / size))
    for (let at = Math.floor(row); at < last; at++) {
      const top = Math.max(0, Math.round((at - row) * size))
      const bottom = Math.min(height, Math.round((at + 1 - row) * size))
      const end = offsets[at + 1] as number
      for (let cell = firstFrom(sparse, at, Math.floor(column)); cell < end; cell++) {
        const left = ((columnOf[cell] as number) - column) * size
        if (left >= width) break
        const from = Math.max(0, Math.round(left))
        const to = Math.min(width, Math.round(left + size))
        const colour = colours[states[cell] as number] as number
        for (let line = top * width; line < bottom * width; line += width) {
          for (let x = line + from; x < line + to; x++) out[x] = colour
        }
      }
    }
  }

  /** Several cells to a pixel, and few enough of them to look at each. */
  private counted({ row, column, size }: View, width: number, height: number, { pixels: { ramp } }: Palette): void {
    const { matrix, out, tallies } = this
    const { offsets, columnOf, states } = matrix
    const last = Math.min(matrix.rows, Math.ceil(row + height / size))
    const behind = column + width / size
    const countsAs = COUNTS_AS[matrix.shows]
    tallies.fill(0)
    for (let at = Math.floor(row); at < last; at++) {
      const start = Math.max(0, Math.floor((at - row) * size)) * width
      const end = offsets[at + 1] as number
      for (let cell = firstFrom(matrix, at, Math.ceil(column)); cell < end; cell++) {
        const place = columnOf[cell] as number
        if (place >= behind) break
        const pixel = start + Math.floor((place - column) * size)
        const tally = withOne(tallies[pixel] as number, countsAs[states[cell] as number] as State)
        tallies[pixel] = tally
        out[pixel] = ramp[lookOf(tally)] as number
      }
    }
  }
}

/** Return the whole matrix as a small picture, a cell `size` pixels. */
export function miniature(pyramid: Level[], matrix: Matrix, size: number, palette: Palette): ImageData {
  const area = {
    width: Math.max(1, Math.round(matrix.columns * size)),
    height: Math.max(1, Math.round(matrix.rows * size)),
  }
  return new Pixels(matrix, pyramid).paint({ row: 0, column: 0, size }, area, palette)
}
