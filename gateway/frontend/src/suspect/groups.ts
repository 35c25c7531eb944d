import type { components } from "../api/schema"

export type ShortItem = components["schemas"]["ShortItem"]
/** A link as `expand=items` gives it. */
export type SuspectLink = components["schemas"]["ExpandedLink"] & { requirement: ShortItem; test_case: ShortItem }

/** The links that one change made suspect. */
export type Group = { key: string; item: ShortItem; version: number; fields: string[]; links: SuspectLink[] }

/** A line of the list: a group's heading or a link. */
export type Line = { group: Group; link?: SuspectLink }

/** Return suspect links by the change that caused them; of a link both of whose sides changed, the requirement's. */
export function groupsOf(links: SuspectLink[]): Group[] {
  const groups = new Map<string, Group>()
  for (const link of links) {
    const { requirement, test_case } = link.suspect_reason ?? {}
    const newer = requirement ?? test_case
    if (!newer) continue
    const item = requirement ? link.requirement : link.test_case
    const key = `${item.id} ${newer.to_version}`
    const group: Group = groups.get(key) ?? { key, item, version: newer.to_version, fields: [], links: [] }
    group.fields = [...new Set([...group.fields, ...newer.fields])]
    group.links.push(link)
    groups.set(key, group)
  }
  return [...groups.values()]
}

/** Return groups as the lines of a list. */
export function linesOf(groups: Group[]): Line[] {
  return groups.flatMap((group) => [{ group }, ...group.links.map((link) => ({ group, link }))])
}

/** Return the link that is looked at once `gone` is: the next one, else the one before. */
export function neighbour(links: SuspectLink[], gone: string, step: 1 | -1 = 1): string | undefined {
  const place = links.findIndex(({ id }) => id === gone)
  return (links[place + step] ?? links[place - step])?.id
}
