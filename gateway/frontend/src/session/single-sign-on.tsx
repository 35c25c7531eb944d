import { useQuery } from "@tanstack/react-query"
import { Button } from "../kit/button"
import { m } from "../messages"
import { waysIn } from "./session"

/** Return whether people sign in at an identity provider; undefined until that is known. */
export const useSingleSignOn = () => useQuery({ queryKey: ["ways-in"], queryFn: waysIn }).data?.single_sign_on

/** Leads to the identity provider, where there is one. */
export function SingleSignOn({ onPress }: { onPress: () => void }) {
  const way = useSingleSignOn()
  if (way !== "offered" && way !== "only") return null
  return (
    <Button look="primary" onPress={onPress}>
      {m.session.singleSignOn}
    </Button>
  )
}
