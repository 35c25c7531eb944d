import { expect, test } from "vitest"
import { headingsBefore, titlesOf } from "./chapters"

test("a heading stands before the first item of its chapter", () => {
  expect(headingsBefore(["3 Doors", "3.1 Open"], undefined)).toEqual([
    { title: "3 Doors", depth: 0 },
    { title: "3.1 Open", depth: 1 },
  ])
  expect(headingsBefore(["3 Doors", "3.2 Close"], ["3 Doors", "3.1 Open"])).toEqual([{ title: "3.2 Close", depth: 1 }])
  expect(headingsBefore(["4 Brakes", "3.1 Open"], ["3 Doors", "3.1 Open"])).toHaveLength(2)
  expect(headingsBefore(["3 Doors"], ["3 Doors", "3.1 Open"])).toEqual([])
  expect(headingsBefore([], ["3 Doors"])).toEqual([])
})

test("titles are lines that say something", () => {
  expect(titlesOf(" 3 Doors \n\n3.2 Closing\n")).toEqual(["3 Doors", "3.2 Closing"])
})
