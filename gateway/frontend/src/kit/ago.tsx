import { formatAgo, formatMoment } from "../messages"

/** How long ago something was, and the moment itself in a tooltip. */
export function Ago({ iso }: { iso: string }) {
  return (
    <time dateTime={iso} title={formatMoment(iso)}>
      {formatAgo(iso)}
    </time>
  )
}
