import * as v from "valibot"
import { ButtonLink } from "../kit/button"
import { Page } from "../kit/page"
import { Tabs } from "../kit/tabs"
import { useMay } from "../session/session"
import { useUrl } from "../url"
import { Flaky } from "./flaky"
import { GateTab } from "./gate"
import { Known } from "./known"
import { Runs } from "./runs"
import { SendReport } from "./send-report"
import { Stale } from "./stale"
import { Tests } from "./tests"
import { Verdicts } from "./verdicts"
import { words } from "./words"

const TABS = [
  { id: "runs", label: words.runs, content: () => <Runs /> },
  { id: "verdicts", label: words.verdicts, content: () => <Verdicts /> },
  { id: "flaky", label: words.flaky, content: () => <Flaky /> },
  { id: "stale", label: words.stale, content: () => <Stale /> },
  { id: "tests", label: words.tests.title, content: () => <Tests /> },
  { id: "accepted", label: words.known.title, content: () => <Known /> },
  { id: "gate", label: words.gate.title, content: () => <GateTab /> },
] as const
const URL_FIELDS = { tab: v.optional(v.picklist(TABS.map(({ id }) => id)), "runs") }
/** What the parts keep in the address: each its own. */
const OF_PARTS = { branch: undefined, verdict: undefined, show: undefined, policy: undefined }

/** What was executed, and what it says of the record. */
export function ResultsPage() {
  const [{ tab }, setUrl] = useUrl(URL_FIELDS)
  const mayRecord = useMay("reviewer")
  const choose = (id: string) =>
    setUrl({ ...OF_PARTS, tab: id === "runs" ? undefined : id } as never, { replace: true })
  return (
    <Page
      title={words.title}
      actions={
        <>
          {mayRecord && <ButtonLink href="/results/session">{words.byHand}</ButtonLink>}
          <ButtonLink href="/results/connect">{words.send.connect}</ButtonLink>
        </>
      }
    >
      <SendReport />
      <Tabs label={words.parts} chosen={tab} onChange={choose} tabs={[...TABS]} />
    </Page>
  )
}
