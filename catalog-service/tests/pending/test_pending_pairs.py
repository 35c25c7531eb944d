"""The copy of which pairs are pending follows the events of suggestion-service, in the order of its feed."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

import pytest

from catalog_service.handlers import HANDLERS
from catalog_service.read_model import new_read_model
from chassis.messaging import rebuild
from chassis.messaging.events import SYSTEM, NewEvent, sequenced
from chassis.messaging.inbox import Inbox
from chassis.messaging.payloads import Payload
from contracts import suggestion
from contracts.routes import ignored_by
from contracts.suggestion import PendingPairsChanged, SuggestionReviewed, SuggestionsBulkReviewed
from testing import factories
from testing.feeds import page, pruned

COMPACT = "/reports/traceability-matrix/compact"


class Suggestions:
    """suggestion-service, as its feed tells of it."""

    def __init__(self, catalog: Any) -> None:
        self.catalog = catalog
        self.inbox = Inbox("catalog", catalog.database, HANDLERS, ignored_by("catalog"))
        self.feed: list[bytes] = []

    def tells(self, payload: Payload) -> bytes:
        self.feed.append(sequenced(len(self.feed) + 1, NewEvent(payload, "pairs", SYSTEM).envelope()))
        return self.feed[-1]

    def changes(self, *pairs: tuple[Any, Any], pending: bool = True) -> bytes:
        by_requirement: dict[str, list[str]] = {}
        for requirement, test_case in pairs:
            by_requirement.setdefault(requirement["id"], []).append(test_case["id"])
        return self.tells(PendingPairsChanged(pending=pending, pairs=by_requirement))

    def reviews(self, *pairs: tuple[Any, Any]) -> bytes:
        suggestions = [
            factories.reviewed("rejected", requirement_id=requirement["id"], test_case_id=test_case["id"])
            for requirement, test_case in pairs
        ]
        if len(suggestions) == 1:
            return self.tells(SuggestionReviewed(suggestion=suggestions[0]))
        return self.tells(SuggestionsBulkReviewed(action="reject", suggestions=suggestions))

    async def arrive(self, *events: bytes) -> None:
        await self.inbox.receive(events)
        assert await self.catalog.rows("SELECT error FROM inbox_failures") == []


@pytest.fixture
async def suggestions(catalog: Any) -> Suggestions:
    await catalog.rows("TRUNCATE inbox, inbox_positions, pending_pairs")
    return Suggestions(catalog)


async def pending_of(catalog: Any, path: str, item: Mapping[str, Any]) -> int:
    read = await catalog.read(f"{path}/{item['id']}", expand="coverage")
    return int(read["coverage"]["pending_suggestions"])


async def test_a_pair_counts_while_it_is_pending(catalog: Any, suggestions: Suggestions) -> None:
    first, second = await catalog.pair(), await catalog.pair()
    crossed = first[0], second[1]

    await suggestions.arrive(suggestions.changes(first, crossed), suggestions.changes(second))
    assert await pending_of(catalog, "/requirements", first[0]) == 2
    assert await pending_of(catalog, "/test-cases", second[1]) == 2

    await suggestions.arrive(suggestions.reviews(first))
    assert await pending_of(catalog, "/requirements", first[0]) == 1
    await suggestions.arrive(suggestions.reviews(crossed, second))
    assert await pending_of(catalog, "/test-cases", second[1]) == 0
    await suggestions.arrive(suggestions.changes(second), suggestions.changes(second, pending=False))
    assert await pending_of(catalog, "/test-cases", second[1]) == 0
    await suggestions.arrive(suggestions.changes(second))
    listed = await catalog.read("/test-cases", expand="coverage", limit=1)
    assert listed["items"][0]["coverage"] == {
        "state": "none",
        "links": 0,
        "suspect_links": 0,
        "pending_suggestions": 1,
    }


async def test_an_event_that_comes_late_changes_nothing(catalog: Any, suggestions: Suggestions) -> None:
    pair = await catalog.pair()
    before, after = suggestions.changes(pair), suggestions.reviews(pair)
    await suggestions.arrive(after)
    await suggestions.arrive(before)
    assert await pending_of(catalog, "/requirements", pair[0]) == 0


async def test_a_pair_that_is_linked_or_half_deleted_is_not_pending(catalog: Any, suggestions: Suggestions) -> None:
    linked, deleted = await catalog.pair(), await catalog.pair()
    await suggestions.arrive(suggestions.changes(linked, deleted))

    await catalog.link(*linked)
    await catalog.delete(f"/test-cases/{deleted[1]['id']}")

    assert await pending_of(catalog, "/requirements", linked[0]) == 0
    assert await pending_of(catalog, "/requirements", deleted[0]) == 0


async def test_the_etag_of_the_matrix_changes_with_what_is_pending(catalog: Any, suggestions: Suggestions) -> None:
    pair = await catalog.pair()
    tags = [(await catalog.get(COMPACT)).headers["etag"]]
    for event in (suggestions.changes(pair), suggestions.reviews(pair)):
        await suggestions.arrive(event)
        tags.append((await catalog.get(COMPACT)).headers["etag"])
    assert len(set(tags)) == 3
    assert (await catalog.get(COMPACT)).headers["etag"] == tags[-1]


@pytest.mark.parametrize("is_pruned", [False, True], ids=["of the whole feed", "of a pruned feed"])
async def test_a_copy_that_is_wrong_is_rebuilt(catalog: Any, suggestions: Suggestions, is_pruned: bool) -> None:
    lost, invented, reviewed = await catalog.pair(), await catalog.pair(), await catalog.pair()
    await suggestions.arrive(
        suggestions.changes(invented),
        suggestions.changes(lost, reviewed),
        suggestions.changes(invented, pending=False),
        suggestions.reviews(reviewed, invented),
        suggestions.changes(reviewed),
        suggestions.reviews(reviewed),
        suggestions.changes(invented, pending=False),
    )
    left = pruned(suggestions.feed, suggestion.EVENTS) if is_pruned else suggestions.feed
    assert len(left) == (3 if is_pruned else 7)

    async def feed(after: int, limit: int) -> bytes:
        return page(left, after, limit)

    async def corrected() -> int:
        async with catalog.database.connection() as connection:
            rebuilt = await rebuild.rebuild(connection, new_read_model(), feed)
            await connection.close()
        return rebuilt.corrected["pending_pairs"]

    assert await corrected() == 0
    ids = {"lost": UUID(lost[0]["id"]), "requirement": UUID(invented[0]["id"]), "test_case": uuid4()}
    async with catalog.database.transaction() as connection:
        await connection.execute("DELETE FROM pending_pairs WHERE requirement_id = %(lost)s", ids)
        await connection.execute(
            "INSERT INTO pending_pairs (requirement_id, test_case_id, pending, sequence)"
            " VALUES (%(requirement)s, %(test_case)s, true, 1)",
            ids,
        )
    tag = (await catalog.get(COMPACT)).headers["etag"]

    assert await corrected() == 2

    assert [await pending_of(catalog, "/requirements", pair[0]) for pair in (lost, invented, reviewed)] == [1, 0, 0]
    assert (await catalog.get(COMPACT)).headers["etag"] != tag
