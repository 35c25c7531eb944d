"""What is told of pending pairs says, at every moment, what is pending."""

from typing import Any

from chassis.messaging.events import Message
from contracts.suggestion import PendingPairsChanged, SuggestionReviewed, SuggestionsBulkReviewed

PUMP = "the pump stops when the tank is full"
LAMP = "a lamp burns in the hall at night"


async def told(service: Any) -> set[tuple[str, str]]:
    """Follow the feed as a reader of it does; return the pairs that are pending by what it says."""
    pending: set[tuple[str, str]] = set()
    for row in await service.rows("SELECT envelope FROM outbox ORDER BY id"):
        message = Message.read(b'{"sequence":1,' + row["envelope"].encode()[1:])
        if message.wire_name == PendingPairsChanged.wire_name:
            change = message.decode(PendingPairsChanged).data
            pairs = {(requirement, one) for requirement, test_cases in change.pairs.items() for one in test_cases}
            assert not pending & pairs if change.pending else pending >= pairs, "each is news"
            pending = pending | pairs if change.pending else pending - pairs
        elif message.wire_name == SuggestionReviewed.wire_name:
            one = message.decode(SuggestionReviewed).data.suggestion
            pending.remove((str(one.requirement_id), str(one.test_case_id)))
        elif message.wire_name == SuggestionsBulkReviewed.wire_name:
            for one in message.decode(SuggestionsBulkReviewed).data.suggestions:
                pending.remove((str(one.requirement_id), str(one.test_case_id)))
    return pending


async def check(service: Any, count: int) -> None:
    """Check that there are so many pending pairs, and that these are the ones that are told of."""
    rows = await service.rows("SELECT requirement_id, test_case_id FROM suggestions WHERE status = 'pending'")
    assert len(rows) == count
    assert await told(service) == {(str(row["requirement_id"]), str(row["test_case_id"])) for row in rows}


async def test_whatever_happens_to_a_suggestion_is_told(service: Any, catalog: Any) -> None:
    requirements = [catalog.requirement(PUMP) for _ in range(3)]
    test_cases = [catalog.test_case(PUMP) for _ in range(3)]
    await service.score()
    await check(service, 9)
    ids = {
        (one["requirement"]["id"], one["test_case"]["id"]): one["id"] for one in await service.suggestions(limit=500)
    }

    def suggestion(requirement: int, test_case: int) -> str:
        return ids[str(requirements[requirement]), str(test_cases[test_case])]

    await service.post(f"/suggestions/{suggestion(0, 0)}/reject")
    await service.post(f"/suggestions/{suggestion(0, 1)}/accept")
    await check(service, 7)
    body = {"ids": [suggestion(0, 2), suggestion(1, 0)], "action": "reject"}
    await service.post("/suggestions/bulk-review", body)
    await check(service, 5)
    for reviewed in (suggestion(0, 0), suggestion(0, 1)):
        await service.post(f"/suggestions/{reviewed}/reopen")
    await check(service, 7)
    catalog.link(requirements[1], test_cases[1])
    await service.follow()
    await check(service, 6)
    catalog.delete(requirements[2])
    await service.follow()
    await check(service, 3)
    await service.rows("UPDATE suggestions SET created_at = now() - interval '40 days', pending_since = NULL")
    await service.withdraw_old()
    await check(service, 0)


async def test_what_a_run_withdraws_and_brings_back_is_told(service: Any, catalog: Any) -> None:
    catalog.requirement(PUMP)
    catalog.test_case(f"{PUMP} and the valve closes")
    catalog.requirement(LAMP)
    catalog.test_case(LAMP)
    await service.follow()
    await service.generate(algorithm="tfidf", threshold=0.3)
    await check(service, 2)
    await service.generate(algorithm="tfidf", threshold=0.95)
    await check(service, 1)
    await service.generate(algorithm="tfidf", threshold=0.3)
    await check(service, 2)
