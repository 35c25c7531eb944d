import { addressed } from "../projects/address"
import css from "./levels.module.css"
import { words } from "./words"

const FORMATS = ["csv", "xlsx", "html"] as const

/** Links to the whole tree as a document. */
export function TreeDownloads() {
  return (
    <nav className={css.downloads} aria-label={words.downloads}>
      {FORMATS.map((format) => (
        <a
          key={format}
          href={addressed(`/api/v1/reports/trace-tree?format=${format}`)}
          aria-label={words.download(format.toUpperCase())}
          {...(format === "html" && { target: "_blank", rel: "noreferrer" })}
        >
          {format.toUpperCase()}
        </a>
      ))}
    </nav>
  )
}
