import { useQuery } from "@tanstack/react-query"
import { Button, ButtonLink } from "../kit/button"
import { Empty } from "../kit/states"
import { m } from "../messages"
import { useWhyNot } from "../projects/queries"
import { useMay } from "../session/session"
import { readDidYouMean } from "./api"
import type { Kind } from "./kinds"
import { type ListUrl, usedFilters } from "./query"
import type { SetUrl } from "./toolbar"

type Props = {
  kind: Kind
  url: ListUrl
  setUrl: SetUrl
  create: () => void
}

/** Why a list is empty: there is nothing yet, or nothing matches; and what leads on. */
export function NothingThere({ kind, url, setUrl, create }: Props) {
  const mayWrite = useMay("reviewer")
  const whyNot = useWhyNot(m.items.nothingHint.viewer)
  const used = usedFilters(kind, url)
  const { data: better } = useQuery({
    queryKey: [kind.key, "did-you-mean", url.search],
    queryFn: ({ signal }) => readDidYouMean(kind, url.search ?? "", signal),
    enabled: Boolean(url.search),
  })
  if (used.length === 0) {
    return (
      <Empty title={kind.words.nothing} hint={mayWrite ? m.items.nothingHint.reviewer : whyNot}>
        {mayWrite && (
          <>
            <ButtonLink look="primary" href="/imports">
              {m.common.importFile}
            </ButtonLink>
            <Button onPress={create}>{kind.words.create}</Button>
          </>
        )}
      </Empty>
    )
  }
  return (
    <Empty title={kind.words.noMatch} hint={m.items.noMatchHint}>
      {better && <Button onPress={() => setUrl({ search: better })}>{m.items.didYouMean(better)}</Button>}
      <Button onPress={() => setUrl(Object.fromEntries(used.map((name) => [name, undefined])))}>
        {m.common.clearFilters}
      </Button>
    </Empty>
  )
}
