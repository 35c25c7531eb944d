import { expect, it } from "vitest"
import { readRules, writeRules } from "./gate-rules"

it("reads what it writes, and leaves empty lines out", () => {
  const rules = [
    { rule: "max_failed", limit: 0, where: { priority: ["critical", "high"], module: ["Body control", "a=b"] } },
    { rule: "require_run", limit: true, where: { tag: "!late", status: null } },
    { rule: "min_verified", limit: 75.5 },
  ]
  const text = writeRules(rules)
  expect(text).toBe(
    'max_failed 0 priority=critical,high module="Body control",a=b\nrequire_run tag=!late\nmin_verified 75.5',
  )
  const read = readRules(`\n${text}\n  \n`)
  expect(read).toEqual([
    { rule: "max_failed", limit: 0, where: { priority: "critical,high", module: '"Body control",a=b' } },
    { rule: "require_run", where: { tag: "!late" } },
    { rule: "min_verified", limit: 75.5, where: {} },
  ])
  expect(writeRules(read)).toBe(text)
})
