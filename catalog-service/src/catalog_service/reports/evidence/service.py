"""Gathers the evidence of a requirement, all of one moment."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from catalog_service import verdict_reads
from catalog_service.executions import history as executions
from catalog_service.history import repository as history
from catalog_service.history.service import text_of
from catalog_service.items.kinds import REQUIREMENT
from catalog_service.links import repository as links
from catalog_service.links import service as links_service
from catalog_service.reports.people import hide_people
from catalog_service.snapshot import snapshot
from catalog_service.timeline import service as timeline
from catalog_service.timeline.repository import NEWEST_FIRST
from catalog_service.timeline.schemas import TimelineGroup
from catalog_service.verdicts import Basis
from chassis.core import projects
from chassis.db.database import Connection, Database
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import PageRequest, Row

_MOST_LINKS, _MOST_EVENTS, _MOST_RESULTS, _MOST_VERSIONS = 500, 2000, 500, 100
_BY_CREATION = Order("created_at:asc", (By("l.created_at", datetime), By("l.id", UUID)))
_PEOPLE_OF_LINKS = ("created_by", "confirmed_by")


async def gather(database: Database, requirement_id: UUID, basis: Basis, made_by: str | None) -> Row:
    """Return the evidence of a requirement that is there or was deleted; raise NotFound. `made_by` None: hide people.

    Where there is more than it holds, `notes` say so.
    """
    async with snapshot(database) as connection:
        item = await history.find_item(connection, REQUIREMENT, requirement_id)
        if item is None:
            raise REQUIREMENT.not_found()
        versions, more_versions = await _versions(connection, item)
        of_requirement = Conditions()
        of_requirement.add("l.requirement_id = %(item)s", item=requirement_id)
        linked = await links.LINKS.find_page(connection, of_requirement, PageRequest(_BY_CREATION, _MOST_LINKS))
        events = await timeline.read_page(
            connection,
            REQUIREMENT,
            requirement_id,
            frozenset({TimelineGroup.LINKS, TimelineGroup.SUGGESTIONS}),
            PageRequest(NEWEST_FIRST, _MOST_EVENTS),
        )
        results = await executions.page(
            connection,
            executions.OF_REQUIREMENT,
            Conditions(requirement=requirement_id),
            PageRequest(executions.NEWEST_FIRST, _MOST_RESULTS),
        )
        verdict = (await verdict_reads.of_requirements(connection, [requirement_id], basis)).get(requirement_id)
    notes = [
        f"Of {total} {what}, the newest {shown} are told."
        for what, total, shown in (
            ("versions", len(versions) + more_versions, len(versions)),
            ("links", linked.total, len(linked.rows)),
            ("events of links", events.total, len(events.rows)),
            ("results", results.total, len(results.rows)),
        )
        if total > shown
    ]
    evidence: Row = {
        "project": projects.current.get(),
        "made_at": basis.now,
        "made_by": made_by,
        "branch": basis.branch,
        "notes": notes,
        "requirement": {**item, "verdict": None if verdict is None else verdict["verdict"]},
        "versions": versions,
        "links": [{**links_service.shown(row), **links_service.ends(row)} for row in linked.rows],
        "events": [_event(entry) for entry in reversed(events.rows)],
        "results": [{name: value for name, value in row.items() if name != "trace"} for row in results.rows],
    }
    if made_by is None:
        _hide(evidence)
    return evidence


async def _versions(connection: Connection, item: Mapping[str, Any]) -> tuple[list[Row], int]:
    """Return what each version says, who made it and when, the newest first; and how many older ones are left out."""
    present: int = item["version"]
    first = max(1, present - _MOST_VERSIONS + 1)
    made = await connection.execute(
        "SELECT DISTINCT ON (version) version, actor, occurred_at FROM item_changes"
        " WHERE item_id = %s AND action = 'updated' ORDER BY version, id",
        (item["id"],),
    )
    by_version = {row["version"]: row for row in await made.fetchall()}
    creator = await history.find_creator(connection, item["id"]) or item["created_by"]
    versions = []
    for number in range(present, first - 1, -1):
        said = dict(item) | await history.find_values(connection, item["id"], number)
        by = {"actor": creator, "occurred_at": item["created_at"]} if number == 1 else by_version.get(number, {})
        versions.append(
            {
                "version": number,
                "actor": by.get("actor"),
                "at": by.get("occurred_at"),
                **{name: text_of(name, said[name]) for name in REQUIREMENT.meaning},
            }
        )
    return versions, first - 1


def _event(entry: Row) -> Row:
    names = ("at", "kind", "actor", "link_id", "version", "suspected_by", "fields", "score", "note", "suggestion_id")
    return {**{name: entry[name] for name in names}, "test_case": entry["item"]}


def _hide(evidence: Row) -> None:
    hide_people([evidence["requirement"]], ["created_by"])
    hide_people(evidence["versions"], ["actor"])
    hide_people(evidence["links"], _PEOPLE_OF_LINKS)
    hide_people(evidence["events"], ["actor"])
    hide_people([result["run"] for result in evidence["results"]], ["recorded_by"])
