import { m } from "../messages"
import { Button } from "./button"
import { toast } from "./toast"

/** A text that is needed elsewhere; where the browser lets no page copy, a click selects it whole. */
export function Copied({ text }: { text: string }) {
  return (
    <>
      <code>{text}</code>{" "}
      {navigator.clipboard && (
        <Button
          look="quiet"
          onPress={() => void navigator.clipboard.writeText(text).then(() => toast(m.common.copied))}
        >
          {m.common.copy}
        </Button>
      )}
    </>
  )
}
