import { expect, test } from "vitest"
import { pseudo } from "./pseudo"

test("messages become 40 % longer, however deep they are, and stay what they are", () => {
  const messages = pseudo({ save: "Save", roles: { viewer: "viewer" }, unread: (count: string) => `${count} unread` })
  expect(messages.save).toBe("[Sávé~~]")
  expect(messages.roles.viewer).toBe("[víéwér~~~]")
  expect(messages.unread("3")).toBe("[3 úñréád~~~~]")
})
