import type { components } from "../api/schema"
import { m } from "../messages"
import { VERDICTS, VERDICTS_OF_TEST_CASES, type Verdict } from "../results/verdict"

type Schemas = components["schemas"]
type OfTestCases = Pick<
  Schemas["TestCase"],
  "automation_status" | "execution_time_minutes" | "postconditions" | "preconditions" | "steps" | "test_data"
>

/** A requirement or a test case; what only test cases have is left out of requirements. */
export type Item = Omit<Schemas["Requirement"], "status" | "type"> & {
  status: string
  type: string
} & Partial<OfTestCases>

/** What a list shows of an item. */
export type ItemRow = Pick<
  Item,
  "id" | "external_id" | "title" | "module" | "status" | "priority" | "tags" | "updated_at"
> & {
  etag: string
  /** Only where the project has fields. */
  custom_metadata?: Item["custom_metadata"]
  coverage: { links: number; suspect_links: number; pending_suggestions: number }
}

export type FacetName =
  | "module"
  | "status"
  | "type"
  | "priority"
  | "tag"
  | "automation_status"
  | "coverage"
  | "linked"
  | "verdict"

/** What makes requirements and test cases different; everything else of their screens is the same. */
export type Kind = {
  name: "requirement" | "test_case"
  /** Of the screens, below the project. */
  path: "/requirements" | "/test-cases"
  /** What its queries are of: the first part of their keys, by which they are read anew when others change something. */
  key: "requirements" | "test-cases"
  /** Of the API. */
  api: "/api/v1/requirements" | "/api/v1/test-cases"
  words: typeof m.items.requirement
  types: string[]
  statuses: string[]
  facets: FacetName[]
  /** What results can say of it, the worst first. */
  verdicts: readonly Verdict[]
  /** The texts that it has beside its description, in order. */
  texts: ("preconditions" | "steps" | "postconditions" | "test_data")[]
}

export const PRIORITIES = ["critical", "high", "medium", "low"]
export const AUTOMATION = ["manual", "automated", "automatable"]
export const LINK_TYPES = ["covers", "verifies", "validates", "related"] as const

export const REQUIREMENTS: Kind = {
  name: "requirement",
  path: "/requirements",
  key: "requirements",
  api: "/api/v1/requirements",
  words: m.items.requirement,
  types: ["functional", "non_functional", "technical"],
  statuses: ["draft", "approved", "implemented", "tested", "closed"],
  facets: ["module", "status", "type", "priority", "tag", "coverage", "verdict"],
  verdicts: VERDICTS,
  texts: [],
}

export const TEST_CASES: Kind = {
  name: "test_case",
  path: "/test-cases",
  key: "test-cases",
  api: "/api/v1/test-cases",
  words: m.items.testCase,
  types: ["functional", "integration", "performance", "security", "ui", "regression"],
  statuses: ["draft", "ready", "executing", "passed", "failed", "blocked", "deprecated"],
  facets: ["module", "status", "type", "priority", "tag", "automation_status", "linked", "verdict"],
  verdicts: VERDICTS_OF_TEST_CASES,
  texts: ["preconditions", "steps", "postconditions", "test_data"],
}

/** Return the kind at the other end of a link. */
export const otherKind = (kind: Kind): Kind => (kind === REQUIREMENTS ? TEST_CASES : REQUIREMENTS)

/** Return the word that people read for a value of a closed list. */
export function word(value: string): string {
  return (m.items.values as Record<string, string>)[value] ?? value
}
