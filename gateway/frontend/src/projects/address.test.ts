import { expect, test } from "vitest"
import { addressed, projectKey } from "./address"

test("the address of a page names its project, and MAIN where it names none", () => {
  expect(projectKey("/p/DOOR/requirements")).toBe("DOOR")
  expect(projectKey("/p/DOOR")).toBe("DOOR")
  expect(projectKey("/sign-in")).toBe("MAIN")
})

test("what belongs to a project is asked for below it, and in MAIN as ever", () => {
  for (const [plain, below] of [
    ["/api/v1/requirements?q=a", "/api/v1/projects/DOOR/requirements?q=a"],
    ["http://here:8000/api/v1/links", "http://here:8000/api/v1/projects/DOOR/links"],
    ["/api/v1/userstories", "/api/v1/projects/DOOR/userstories"],
  ] as const) {
    expect(addressed(plain, "DOOR")).toBe(below)
    expect(addressed(plain, "MAIN")).toBe(plain)
  }
})

test("what belongs to the installation or to a person is asked for at its own address", () => {
  for (const address of [
    "/api/v1/users?limit=1",
    "/api/v1/auth/me",
    "/api/v1/projects",
    "/api/v1/notifications/7",
    "/session",
  ]) {
    expect(addressed(address, "DOOR")).toBe(address)
  }
})
