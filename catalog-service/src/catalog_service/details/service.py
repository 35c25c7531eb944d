"""An item with what is asked for beside it, all of one moment."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from catalog_service import verdict_reads
from catalog_service.details import repository
from catalog_service.items import repository as items
from catalog_service.items.kinds import REQUIREMENT, ItemKind
from catalog_service.links import repository as links
from catalog_service.links import service as links_service
from catalog_service.links.repository import LinkRow
from catalog_service.snapshot import snapshot
from catalog_service.timeline import service as timeline
from catalog_service.timeline.repository import NEWEST_FIRST
from catalog_service.verdicts import Basis
from chassis.db.database import Connection, Database
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import PageRequest, Row, envelope

_MOST_LINKS = 200
_ENTRIES = 20
_NEWEST_LINK_FIRST = Order("created_at:desc", (By("l.created_at", datetime, True), By("l.id", UUID)))


async def read(database: Database, kind: ItemKind, item_id: UUID, asked: Collection[str], basis: Basis) -> Row:
    """Return an item with those of `coverage`, `links`, `verdict` and `timeline` that are asked for; raise NotFound.

    `etag` is that of the item by itself.
    """
    async with snapshot(database) as connection:
        found = await items.find_with_coverage(connection, kind, item_id)
        if found is None:
            raise kind.not_found()
        etag = kind.etag(found)
        coverage = found.pop("coverage")
        more: Row = {"coverage": coverage} if "coverage" in asked else {}
        if "links" in asked:
            more["links"] = await _links(connection, kind, item_id)
        if "verdict" in asked:
            more["verdict"] = await _verdict(connection, kind, item_id, basis)
        if "timeline" in asked:
            more["timeline"] = await _timeline(connection, kind, item_id)
    return {**found, **more, "etag": etag}


async def _links(connection: Connection, kind: ItemKind, item_id: UUID) -> Row:
    conditions = Conditions()
    conditions.add(f"l.{kind.name}_id = %(item)s", item=item_id)
    page = PageRequest(_NEWEST_LINK_FIRST, _MOST_LINKS)
    found = await links.LINKS.find_page(connection, conditions, page)
    return {"items": [_link(row) for row in found.rows], "total": found.total}


def _link(row: LinkRow) -> Row:
    return {**links_service.shown(row), **links_service.ends(row)}


async def _timeline(connection: Connection, kind: ItemKind, item_id: UUID) -> Row:
    wanted = PageRequest(NEWEST_FIRST, _ENTRIES, of=f"{kind.path}/{item_id}/timeline ")
    found = await timeline.read_page(connection, kind, item_id, frozenset(), wanted)
    return {"items": found.rows, "total": found.total, **envelope(wanted, found)}


async def _verdict(connection: Connection, kind: ItemKind, item_id: UUID, basis: Basis) -> Row:
    """Return what results say of an item, and how each of its test cases, or itself, ended in its last runs."""
    counts = None
    if kind is REQUIREMENT:
        of = (await verdict_reads.of_requirements(connection, [item_id], basis))[item_id]
        verdict, counts = of["verdict"], of["counts"]
        test_cases = await verdict_reads.test_cases_of(connection, item_id, basis)
    else:
        test_cases = [await verdict_reads.of_test_case(connection, item_id, basis)]
        verdict = test_cases[0]["verdict"]
    runs = await repository.last_runs(connection, [row["id"] for row in test_cases], basis)
    shown = ("id", "verdict", "counts", "last_result", "last_run_at")
    return {
        "branch": basis.branch,
        "verdict": verdict,
        "counts": counts,
        "test_cases": [
            {
                **{name: value for name, value in row.items() if name in shown},
                "runs": [
                    {name: value for name, value in run.items() if name != "test_case_id"}
                    for run in runs.get(row["id"], [])
                ],
            }
            for row in test_cases
        ],
    }
