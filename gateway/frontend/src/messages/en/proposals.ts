import { counted } from "./counted"

/** What the review of proposals shows. */
export const proposals = {
  proposals: "Proposals to review",
  kinds: {
    link: "Link",
    unlink: "Delete a link",
    confirm_link: "Confirm a link",
    relation: "Relate",
    requirement: "New requirement",
    test_case: "New test case",
    change: "Change",
  },
  acceptKinds: {
    link: "Accept link",
    unlink: "Delete the link",
    confirm_link: "Confirm the link",
    relation: "Accept relation",
    requirement: "Create it",
    test_case: "Create it",
    change: "Make the change",
  },
  rationale: "Why",
  alsoBy: (name: string) => `Proposed by ${name}, too`,
  evidence: "Evidence",
  evidenceTypes: { file: "file", url: "address", commit: "commit", run: "run", item: "item" },
  proposedBy: "Agent",
  owner: "Token of",
  program: "Program",
  proposedAt: "Proposed",
  ourScore: "Our score",
  noScore: "none for this",
  confidence: "What the agent says",
  child: "Requirement below",
  parent: "Requirement above",
  field: (name: string) => name.replaceAll("_", " "),
  agentReads: "The agent reads it; it is saved with the decision.",
  many: "Review many at once",
  manyOpen: "Many at once",
  manyOf: "Which",
  manyOfEach: {
    batch: () => "Proposed together with this",
    agent: (name: string) => `All of ${name}`,
  },
  manyWhat: "Decision",
  manyWhats: { accept: "Accept", reject: "Reject" },
  manyCount: (count: number) => `${counted("proposal waits", "proposals wait")(count)}.`,
  manyActions: {
    accept: (count: number) => `Accept ${count}`,
    reject: (count: number) => `Reject ${count}`,
  },
  manyDone: {
    accept: (count: number, all: number) =>
      `Accepted: ${counted("proposal")(count)}${count === all ? "" : `. ${all - count} could not be accepted.`}`,
    reject: (count: number, all: number) =>
      `Rejected: ${counted("proposal")(count)}${count === all ? "" : `. ${all - count} could not be rejected.`}`,
  },
  onlySkipped: (count: number) => `Only what you skipped is left: ${counted("proposal")(count)}`,
  onlySkippedHint: "They wait until somebody decides, or for 30 days.",
  showSkipped: "Show them again",
  noProposals: "No proposal waits",
  noProposalsHint: "Agents propose by their API tokens; what they propose changes nothing until you accept it.",
}
