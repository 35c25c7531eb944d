"""Taking back what accepting suggestions made, as long as nobody has touched it since."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from catalog_service.links import repository, service
from catalog_service.requirements.kind import REQUIREMENT
from catalog_service.test_cases.kind import TEST_CASE
from chassis.db.database import Connection
from chassis.messaging import outbox
from chassis.messaging.events import Actor
from chassis.web.listing import Row


class Outcome(NamedTuple):
    """Why a suggestion cannot be pending again, and which link is in the way; `code` None: it can."""

    code: str | None = None
    link_id: UUID | None = None


async def undo_reviews(connection: Connection, undone: Sequence[Row]) -> list[Outcome]:
    """Delete the links of reviews that are undone; return the outcome of each, in order. Asked again, it is the same.

    `undone`: suggestion_id, requirement_id, test_case_id, link_id and review_id (or None), and actor (id, email).
    """
    kept = {
        kind.name: await repository.keep_ends(connection, kind, [one[f"{kind.name}_id"] for one in undone])
        for kind in (REQUIREMENT, TEST_CASE)
    }
    pairs = [_pair(one) for one in undone]
    links = {_pair(link): link for link in await repository.lock_links_of_pairs(connection, pairs)}
    outcomes = [_outcome(one, links.get(_pair(one)), kept) for one in undone]
    possible = [one for one, outcome in zip(undone, outcomes, strict=True) if outcome.code is None]
    await repository.undo_acceptances(
        connection,
        {one["suggestion_id"]: one["link_id"] for one in possible if one["link_id"] is not None},
        {one["suggestion_id"]: one["review_id"] for one in possible if one["review_id"] is not None},
    )
    removed = {links[_pair(one)]["id"]: one for one in possible if _pair(one) in links}
    if removed:
        await repository.delete_all(connection, list(removed))
        events = [service.deleted(links[_pair(one)], Actor(**one["actor"])) for one in removed.values()]
        await outbox.record(connection, events)
    return outcomes


def _pair(row: Row) -> tuple[UUID, UUID]:
    return row["requirement_id"], row["test_case_id"]


def _outcome(one: Row, link: Row | None, kept: dict[str, dict[UUID, Row]]) -> Outcome:
    for kind in (REQUIREMENT, TEST_CASE):
        if one[f"{kind.name}_id"] not in kept[kind.name]:
            return Outcome(kind.not_found().code)
    if link is None:
        return Outcome()
    if one["link_id"] is None:
        return Outcome("link_exists", link["id"])
    if link["id"] != one["link_id"] or not link["untouched"]:
        return Outcome("link_changed", link["id"])
    return Outcome()
