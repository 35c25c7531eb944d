"""Taking back what accepting suggestions made, as long as it has not been changed since."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from catalog_service.items.kinds import REQUIREMENT, TEST_CASE
from catalog_service.links import repository, service
from catalog_service.links.repository import LockedLink
from catalog_service.links.schemas import UndoneReview
from chassis.db.database import Connection, Database
from chassis.messaging import outbox


class Outcome(NamedTuple):
    """Why a suggestion cannot be pending again, and which link is in the way; `code` None: it can."""

    code: str | None = None
    link_id: UUID | None = None


async def undo(database: Database, undone: Sequence[UndoneReview]) -> list[Outcome]:
    """Do `undo_reviews` in a transaction of its own."""
    async with database.transaction() as connection:
        return await undo_reviews(connection, undone)


async def undo_reviews(connection: Connection, undone: Sequence[UndoneReview]) -> list[Outcome]:
    """Delete the links of reviews that are undone; return the outcome of each, in order: the same when asked again."""
    requirements = await repository.lock_ends(connection, REQUIREMENT, [one.requirement_id for one in undone])
    test_cases = await repository.lock_ends(connection, TEST_CASE, [one.test_case_id for one in undone])
    pairs = [(one.requirement_id, one.test_case_id) for one in undone]
    locked = await repository.lock_links_of_pairs(connection, pairs)
    by_pair = {(link["requirement_id"], link["test_case_id"]): link for link in locked}
    outcomes = []
    possible: list[tuple[UndoneReview, LockedLink | None]] = []
    for one, pair in zip(undone, pairs, strict=True):
        if one.requirement_id not in requirements:
            outcome = Outcome(REQUIREMENT.not_found().code)
        elif one.test_case_id not in test_cases:
            outcome = Outcome(TEST_CASE.not_found().code)
        else:
            outcome = _outcome(one, by_pair.get(pair))
        outcomes.append(outcome)
        if outcome.code is None:
            possible.append((one, by_pair.get(pair)))
    await repository.undo_acceptances(
        connection,
        {one.suggestion_id: one.link_id for one, _ in possible if one.link_id is not None},
        {one.suggestion_id: one.review_id for one, _ in possible if one.review_id is not None},
    )
    removed = {link["id"]: (one, link) for one, link in possible if link is not None}
    if removed:
        await repository.LINKS.delete_all(connection, list(removed))
        await outbox.record(
            connection, [service.LINKS.deleted(link, one.actor.as_actor()) for one, link in removed.values()]
        )
    return outcomes


def _outcome(one: UndoneReview, link: LockedLink | None) -> Outcome:
    if link is None:
        return Outcome()
    if one.link_id is None:
        return Outcome("link_exists", link["id"])
    if link["id"] != one.link_id or not link["untouched"]:
        return Outcome("link_changed", link["id"])
    return Outcome()
