import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"

type Three = [number, number, number]

/** What is seen of linear red, green and blue, after Machado, Oliveira and Fernandes (2009). */
const SIGHTS: Record<string, Three[]> = {
  "all colours": [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  "no red": [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  "no green": [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  "no blue": [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}
const TO_XYZ: Three[] = [
  [0.4339, 0.3762, 0.1899],
  [0.2126, 0.7152, 0.0722],
  [0.0177, 0.1095, 0.8729],
]
const EASY_TO_TELL_APART = 25

const theme = readFileSync(new URL("../theme.css", import.meta.url), "utf8")
const times = (matrix: Three[], [a, b, c]: Three) => matrix.map(([x, y, z]) => x * a + y * b + z * c) as Three

function labOf(colour: string, sight: Three[]): Three {
  const linear = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }) as Three
  const seen = times(sight, linear).map((value) => Math.min(1, Math.max(0, value))) as Three
  const [x, y, z] = times(TO_XYZ, seen).map((t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116)) as Three
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
}

describe.each(["light", "dark"])("verdicts without a shape, %s", (scheme) => {
  const place = scheme === "light" ? 1 : 2
  const colours = [...theme.matchAll(/--(?:verdict-[a-z-]+|page): light-dark\((#\w{6}), (#\w{6})\)/g)]

  it.each(Object.entries(SIGHTS))("are told apart by who sees %s", (_, sight) => {
    const seen = colours.map((match) => labOf(match[place] as string, sight))
    const distances = seen.flatMap((one, at) =>
      seen.slice(0, at).map((other) => Math.hypot(...one.map((value, axis) => value - (other[axis] as number)))),
    )
    expect(distances).toHaveLength(15)
    expect(Math.min(...distances)).toBeGreaterThan(EASY_TO_TELL_APART)
  })
})
