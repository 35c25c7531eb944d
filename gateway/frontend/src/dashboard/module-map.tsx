import { useQuery } from "@tanstack/react-query"
import { type KeyboardEvent, useState } from "react"
import { Link } from "wouter"
import { Choice } from "../kit/choice"
import { formatCount, formatShare, m } from "../messages"
import { useSize } from "../plots/measure"
import { writeAlternatives } from "../url"
import { Card } from "./card"
import css from "./module-map.module.css"
import page from "./page.module.css"
import { type ModuleVerdicts, verdictsByModule } from "./queries"
import { listOf } from "./standing"
import { fitted, layTiles, stepOf, type Tile } from "./tiles"
import { words } from "./words"

const { map } = words
const ROOM = { name: 26, figures: 44, signs: 62 }
const STEPS = [0, 1, 2, 3, 4]

/** Where the requirements are, and how much of each module is verified. */
export function ModuleMap() {
  const [shown, show] = useState<"map" | "table">("map")
  const choice = (
    <Choice
      label={map.shown}
      value={shown}
      options={[
        { value: "map", label: map.asMap },
        { value: "table", label: map.asTable },
      ]}
      onChange={show}
    />
  )
  return (
    <Card title={map.title} query={useQuery(verdictsByModule)} actions={choice}>
      {({ items }) => (shown === "map" ? <Tiles modules={items} /> : <Table modules={items} />)}
    </Card>
  )
}

const filterOf = (module: string | null) =>
  `module=${encodeURIComponent(writeAlternatives([{ value: module ?? "", not: false }]) ?? "")}`

const nameOf = ({ module, modules }: Pick<Tile, "module" | "modules">) =>
  module === undefined ? map.others(modules) : (module ?? m.common.noModule)

const figuresOf = ({ all, verified, failed, suspect }: Tile) =>
  [
    map.verified(formatCount(verified), formatCount(all)),
    failed > 0 && map.failed(formatCount(failed)),
    suspect > 0 && map.suspect(suspect),
  ]
    .filter(Boolean)
    .join(", ")

function Tiles({ modules }: { modules: ModuleVerdicts[] }) {
  const [ref, { width, height }] = useSize<SVGSVGElement>()
  const [at, setAt] = useState(0)
  const tiles = width > 0 ? layTiles(modules, width, height) : []
  function move(event: KeyboardEvent<SVGSVGElement>) {
    const moves: Record<string, number> = {
      ArrowLeft: at - 1,
      ArrowUp: at - 1,
      ArrowRight: at + 1,
      ArrowDown: at + 1,
      Home: 0,
      End: tiles.length - 1,
    }
    const next = moves[event.key]
    if (next === undefined) return
    event.preventDefault()
    const place = Math.max(0, Math.min(tiles.length - 1, next))
    setAt(place)
    event.currentTarget.querySelectorAll<SVGAElement>("a")[place]?.focus()
  }
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a part of a drawing, which no other element groups */}
      <svg ref={ref} className={css.map} role="group" aria-label={map.hint} onKeyDown={move}>
        <defs>
          <pattern id="failed-pattern" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect width="6" height="6" className={css.failed} />
            <rect width="2" height="6" className={css.stripe} />
          </pattern>
        </defs>
        {tiles.map((tile, place) => (
          <TileOf key={nameOf(tile)} tile={tile} isReached={place === at} reach={() => setAt(place)} />
        ))}
      </svg>
      <Legend />
    </>
  )
}

function TileOf({ tile, isReached, reach }: { tile: Tile; isReached: boolean; reach: () => void }) {
  const { module, x, y, width, height, all, verified, failed, suspect } = tile
  const told = map.label(nameOf(tile), figuresOf(tile))
  const signs = [failed > 0 && `✕ ${formatCount(failed)}`, suspect > 0 && `▲ ${formatCount(suspect)}`].filter(Boolean)
  const ofFailed = failed === 0 ? 0 : Math.max(6, Math.round((height * failed) / all))
  return (
    <Link
      href={module === undefined ? "/requirements" : `/requirements?${filterOf(module)}`}
      className={css.tile}
      tabIndex={isReached ? 0 : -1}
      onFocus={reach}
    >
      <title>{told}</title>
      <g transform={`translate(${x} ${y})`} data-step={stepOf(verified / all)}>
        <rect width={width} height={height} rx="4" className={css.ground} />
        {ofFailed > 0 && (
          <rect y={height - ofFailed} width={width} height={ofFailed} rx="4" fill="url(#failed-pattern)" />
        )}
        {height >= ROOM.name && (
          <text x="8" y="18" className={css.name}>
            {fitted(nameOf(tile), width - 14)}
          </text>
        )}
        {height >= ROOM.figures && (
          <text x="8" y="34">
            {fitted(map.verified(formatCount(verified), formatCount(all)), width - 14)}
          </text>
        )}
        {signs.length > 0 && height >= ROOM.signs && (
          <text x="8" y="51" className={css.signs}>
            {fitted(signs.join("  "), width - 14)}
          </text>
        )}
        {signs.length > 0 && height < ROOM.signs && (
          <text x={width - 6} y={height - 5} textAnchor="end" className={css.signs}>
            {failed > 0 ? "✕" : "▲"}
          </text>
        )}
      </g>
    </Link>
  )
}

function Legend() {
  return (
    <p className={css.legend}>
      <span>{map.hint}</span>
      <span className={css.scale}>
        {map.none}
        {STEPS.map((step) => (
          <i key={step} data-step={step} />
        ))}
        {map.all}
      </span>
      <span>
        <i data-failed /> ✕ {map.failedSign}
      </span>
      <span>▲ {map.suspectSign}</span>
    </p>
  )
}

function Table({ modules }: { modules: ModuleVerdicts[] }) {
  const { columns } = map
  const worst = [...modules].sort(
    (a, b) => a.requirements.passed / a.total_requirements - b.requirements.passed / b.total_requirements,
  )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className={css.table} tabIndex={0} aria-label={map.tableOf}>
      <table className={page.table}>
        <thead>
          <tr>
            {Object.entries(columns).map(([name, label]) => (
              <th key={name} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {worst.map(({ module, total_requirements, requirements, suspect_links }) => {
            const filter = filterOf(module)
            const counts = [
              [formatCount(requirements.passed), listOf("passed", filter), requirements.passed],
              [formatCount(requirements.failed), listOf("failed", filter), requirements.failed],
              [formatCount(requirements.uncovered), listOf("uncovered", filter), requirements.uncovered],
              [formatCount(suspect_links), `/requirements?${filter}&coverage=suspect`, suspect_links],
            ] as const
            return (
              <tr key={module ?? ""}>
                <th scope="row">
                  <Link href={`/requirements?${filter}`}>{module ?? m.common.noModule}</Link>
                </th>
                <td className="numbers">{formatCount(total_requirements)}</td>
                {counts.map(([text, href, count], place) => (
                  <td key={href} className="numbers">
                    {count === 0 ? "·" : <Link href={href}>{text}</Link>}
                    {place === 0 && count > 0 && (
                      <span className={css.quiet}> {formatShare(count / total_requirements)}</span>
                    )}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </section>
  )
}
