import * as v from "valibot"
import { Page } from "../kit/page"
import { Tabs } from "../kit/tabs"
import { useUrl } from "../url"
import { Runs } from "./runs"
import { words } from "./words"

const TABS = ["runs"] as const
const URL_FIELDS = { tab: v.optional(v.picklist(TABS), "runs") }

/** What was executed, and what it says of the record. */
export function ResultsPage() {
  const [{ tab }, setUrl] = useUrl(URL_FIELDS)
  return (
    <Page title={words.title}>
      <Tabs
        label={words.parts}
        chosen={tab}
        onChange={(id) => setUrl({ tab: id === "runs" ? undefined : id }, { replace: true })}
        tabs={[{ id: "runs", label: words.runs, content: () => <Runs /> }]}
      />
    </Page>
  )
}
