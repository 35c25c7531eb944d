/** Properties that a plot has from the style sheet, which a picture by itself does not have. */
const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font", "opacity", "text-anchor"]
const SCALE = 2

/** Save rows as a file of comma-separated values, the first of them the header. */
export function saveTable(name: string, rows: (string | number)[][]): void {
  const text = rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("")
  save(`${name}.csv`, new Blob(["\uFEFF", text], { type: "text/csv" }))
}

/** Write a value so that it stays one, and so that a spreadsheet takes none for a formula. */
function cell(value: string | number): string {
  if (typeof value === "number") return String(value)
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Save a plot as a picture, as it looks now. */
export async function savePicture(name: string, plot: SVGSVGElement): Promise<void> {
  const { width, height } = plot.getBoundingClientRect()
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(styled(plot)))}`
  await image.decode()
  const canvas = document.createElement("canvas")
  canvas.width = width * SCALE
  canvas.height = height * SCALE
  const drawing = canvas.getContext("2d")
  if (!drawing) return
  drawing.fillStyle = backgroundOf(plot)
  drawing.fillRect(0, 0, canvas.width, canvas.height)
  drawing.drawImage(image, 0, 0, canvas.width, canvas.height)
  canvas.toBlob((picture) => picture && save(`${name}.png`, picture))
}

function styled(plot: SVGSVGElement): SVGSVGElement {
  const copy = plot.cloneNode(true) as SVGSVGElement
  const { width, height } = plot.getBoundingClientRect()
  copy.setAttribute("width", String(width))
  copy.setAttribute("height", String(height))
  const copies = copy.querySelectorAll("*")
  for (const [place, element] of plot.querySelectorAll("*").entries()) {
    const looks = getComputedStyle(element)
    for (const name of LOOKS) copies[place]?.setAttribute(name, looks.getPropertyValue(name))
  }
  return copy
}

function backgroundOf(plot: Element): string {
  for (let element: Element | null = plot; element; element = element.parentElement) {
    const { backgroundColor } = getComputedStyle(element)
    if (backgroundColor !== "rgba(0, 0, 0, 0)") return backgroundColor
  }
  return "white"
}

function save(name: string, content: Blob): void {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
