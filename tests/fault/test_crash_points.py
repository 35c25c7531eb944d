"""A process dies between any two steps of accepting, undoing, publishing and receiving: what was begun is finished."""

from collections.abc import Sequence

import pytest

from acceptance.client import Traceline
from acceptance.faults import fail_points
from acceptance.faults.databases import value
from acceptance.faults.history import History
from acceptance.faults.invariants import Hold
from acceptance.faults.load import Load
from acceptance.stack import RunningStack
from acceptance.waiting import eventually

ONE_OF_EACH = [
    ("suggestion-service", "after:suggestion_service.review.acceptance:link"),
    ("suggestion-service", "after:suggestion_service.review.undoing:unlink"),
    ("catalog-service", "before:catalog_service.links.endpoints:answer"),
    ("catalog-worker", "after:chassis.messaging.bus.rabbitmq:RabbitMQBus.publish"),
    ("suggestion-worker", "before:chassis.messaging.inbox:Inbox._advance"),
    ("notification-worker", "after:chassis.messaging.inbox:Inbox.receive"),
]


@pytest.mark.long
def test_dying_between_two_steps_leaves_nothing_half_done(
    stack: RunningStack, admin: Traceline, history: History, hold: Hold
) -> None:
    with Load(admin, history) as load:
        die_at_each(stack, load, ONE_OF_EACH)
    every_review_is_finished(stack)
    hold()


@pytest.mark.long
@pytest.mark.parametrize(
    "programs",
    [
        ["suggestion-service"],
        ["catalog-service"],
        ["auth-worker", "catalog-worker"],
        ["suggestion-worker"],
        ["notification-worker"],
    ],
    ids=" and ".join,
)
def test_dying_at_any_step_leaves_nothing_half_done(
    stack: RunningStack, admin: Traceline, history: History, hold: Hold, programs: list[str]
) -> None:
    with Load(admin, history) as load:
        die_at_each(stack, load, fail_points.of(*programs))
    every_review_is_finished(stack)
    hold()


@pytest.mark.long
@pytest.mark.parametrize(
    ("begun", "finishing"),
    [
        ("after:suggestion_service.review.acceptance:begin", fail_points.RECONCILE[0]),
        ("after:suggestion_service.review.undoing:Undoing._begin", fail_points.RECONCILE[1]),
    ],
    ids=["accepting", "undoing"],
)
def test_dying_while_finishing_what_another_began_leaves_nothing_half_done(
    stack: RunningStack, admin: Traceline, history: History, hold: Hold, begun: str, finishing: str
) -> None:
    with Load(admin, history) as load:
        armed = fail_points.arm(stack.data_dir, "suggestion-worker", finishing)
        die_at_each(stack, load, [("suggestion-service", begun)])
        eventually(lambda: not armed.exists(), "the death of who finishes")
    every_review_is_finished(stack)
    hold()


def die_at_each(stack: RunningStack, load: Load, points: Sequence[tuple[str, str]]) -> None:
    for program, point in points:
        armed = fail_points.arm(stack.data_dir, program, point)
        eventually(lambda armed=armed: not armed.exists(), f"a death at {point}")  # type: ignore[misc]
        stack.wait_ready()
        load.acknowledges(10)


def every_review_is_finished(stack: RunningStack) -> None:
    """Nobody reviews any more: whatever is still open would soon be older than 30 s."""
    open_ones = "SELECT NOT EXISTS (SELECT FROM accept_intents) AND NOT EXISTS (SELECT FROM undo_intents)"
    eventually(
        lambda: value(stack, "suggestion", open_ones),
        "the end of every acceptance and undoing",
    )
