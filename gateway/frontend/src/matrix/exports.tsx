import { m } from "../messages"
import { addressed } from "../projects/address"
import css from "./page.module.css"

const FORMATS = ["csv", "xlsx", "html"] as const
const REPORT = "/api/v1/reports/traceability-matrix"

/** The whole matrix as a file: of all modules, or of those that it is narrowed to. */
export function Exports({ module }: { module: string | undefined }) {
  return (
    <ul className={css.exports} aria-label={m.matrix.exports}>
      {FORMATS.map((format) => (
        <li key={format}>
          <a
            href={addressed(`${REPORT}?${new URLSearchParams({ format, ...(module !== undefined && { module }) })}`)}
            download
          >
            {m.matrix.export(format.toUpperCase())}
          </a>
        </li>
      ))}
    </ul>
  )
}
