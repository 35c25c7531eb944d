import type { Matrix } from "./decode"
import type { Frame } from "./frame"
import { miniature } from "./pixels"
import type { Level } from "./pyramid"

const MARGIN = 10

/** The whole matrix where both headers meet, with what is in sight marked. */
export class Minimap {
  private picture: HTMLCanvasElement | undefined
  private place: { x: number; y: number; width: number; height: number } | undefined

  constructor(
    private readonly matrix: Matrix,
    private readonly pyramid: Level[],
  ) {}

  restyle(): void {
    this.picture = undefined
  }

  draw(context: CanvasRenderingContext2D, { view, area, left, top, palette }: Frame): void {
    const { rows, columns } = this.matrix
    const inSight = { width: area.width / view.size, height: area.height / view.size }
    const scale = Math.min((left - 2 * MARGIN) / columns, (top - 2 * MARGIN) / rows)
    const [width, height] = [Math.max(2, columns * scale), Math.max(2, rows * scale)]
    const [x, y] = [MARGIN, MARGIN]
    this.place = { x, y, width, height }
    this.picture ??= pictureOf(miniature(this.pyramid, this.matrix, scale * devicePixelRatio, palette))
    context.drawImage(this.picture, x, y, width, height)
    context.lineWidth = 1
    context.strokeStyle = palette.line
    context.strokeRect(x - 0.5, y - 0.5, width + 1, height + 1)
    context.lineWidth = 1.5
    context.strokeStyle = palette.focus
    const frame = { width: Math.min(width, inSight.width * scale), height: Math.min(height, inSight.height * scale) }
    const corner = { x: x + view.column * scale, y: y + view.row * scale }
    context.strokeRect(corner.x - 1, corner.y - 1, Math.max(4, frame.width) + 2, Math.max(4, frame.height) + 2)
  }

  /** Return the place in the matrix that a point of the canvas stands for; undefined beside the minimap. */
  placeAt(x: number, y: number): { row: number; column: number } | undefined {
    if (!this.place) return undefined
    const [across, down] = [(x - this.place.x) / this.place.width, (y - this.place.y) / this.place.height]
    if (across < 0 || down < 0 || across > 1 || down > 1) return undefined
    return { row: down * this.matrix.rows, column: across * this.matrix.columns }
  }
}

function pictureOf(image: ImageData): HTMLCanvasElement {
  const canvas = document.createElement("canvas")
  canvas.width = image.width
  canvas.height = image.height
  canvas.getContext("2d")?.putImageData(image, 0, 0)
  return canvas
}
