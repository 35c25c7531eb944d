"""Coverage goes up and down across its threshold, and the process that judges it dies meanwhile."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from acceptance.client import Traceline
from acceptance.faults.databases import query
from acceptance.faults.draining import drained
from acceptance.faults.invariants import Hold
from acceptance.faults.invariants.feed_reading import Event, feed
from acceptance.stack import RunningStack

DROPS = 100
"""And as many rises before them: 200 crossings."""
REQUIREMENTS = 5
KILLS = 4


@pytest.mark.long
def test_every_reviewer_is_told_once_of_every_drop(stack: RunningStack, admin: Traceline, hold: Hold) -> None:
    """All but one of the requirements are linked, which is at the threshold of 0.8; the link of one comes and goes."""
    remove_all_requirements(admin)
    one, *others = [admin.create_requirement() for _ in range(REQUIREMENTS)]
    test_case = admin.create_test_case()
    for requirement in others[1:]:
        admin.create_link(requirement["id"], test_case["id"])
    drained(stack)
    before = {event.id for event in drops(stack)}

    for turn in range(DROPS):
        link = admin.create_link(one["id"], test_case["id"])
        assert admin.delete(f"/links/{link['id']}").status_code == 204
        if turn % (DROPS // KILLS) == DROPS // KILLS // 2:
            stack.wait_ready()
            stack.kill("catalog-worker")
    hold()

    told = [event for event in drops(stack) if event.id not in before]
    assert len(told) == DROPS
    shares = {(event.data["covered_requirements"], event.data["total_requirements"]) for event in told}
    assert shares == {(REQUIREMENTS - 2, REQUIREMENTS)}
    assert notified(stack, told) == dict.fromkeys(reviewers(admin), DROPS)


def remove_all_requirements(admin: Traceline) -> None:
    with ThreadPoolExecutor(8) as pool:
        for answer in pool.map(
            lambda item: admin.delete(f"/requirements/{item['id']}"), admin.items("/requirements", limit=500)
        ):
            assert answer.status_code == 204


def drops(stack: RunningStack) -> list[Event]:
    return [event for event in feed(stack, "catalog") if event.type == "catalog.coverage.dropped"]


def notified(stack: RunningStack, told: list[Event]) -> dict[int, int]:
    """How often each user was told of these events."""
    sent = query(
        stack,
        "notification",
        "SELECT user_id, count(*) AS times FROM notifications WHERE event_id = ANY(%s::uuid[]) GROUP BY user_id",
        [[event.id for event in told]],
    )
    return {row["user_id"]: row["times"] for row in sent}


def reviewers(admin: Traceline) -> set[int]:
    return {user["id"] for user in admin.items("/users", role="reviewer,admin", is_active=True, limit=100)}
