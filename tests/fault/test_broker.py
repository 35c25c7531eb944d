"""RabbitMQ dies, is away, and loses its data: the API does not notice, and no event is lost or doubled."""

import shutil
import time

import pytest

from acceptance.client import Traceline
from acceptance.faults import operating
from acceptance.faults.databases import value
from acceptance.faults.draining import drained
from acceptance.faults.history import History
from acceptance.faults.invariants import Hold
from acceptance.faults.load import Load
from acceptance.stack import RunningStack

AWAY = 60.0
TIMES = 5


@pytest.mark.long
def test_killed_again_and_again_under_load_it_is_used_again(
    stack: RunningStack, admin: Traceline, history: History, hold: Hold
) -> None:
    kill(stack, admin, history, times=TIMES)
    hold()


@pytest.mark.long
def test_while_it_is_away_every_write_is_answered_and_told_later(
    stack: RunningStack, admin: Traceline, history: History, hold: Hold
) -> None:
    drained(stack)
    with Load(admin, history) as load:
        load.acknowledges(50)
        with operating.stopped(stack, "rabbitmq"):
            time.sleep(AWAY)
            risen = lag(stack)
        load.acknowledges(50)
    answers = {operation.answer for operation in history.operations}
    assert answers <= {"200", "201", "204", "404"}, history.summary()
    hold()
    assert risen > 50
    assert lag(stack) == 0


@pytest.mark.long
def test_when_its_data_is_gone_everything_is_told_again(
    stack: RunningStack, admin: Traceline, history: History, hold: Hold
) -> None:
    """What consumers had not taken yet goes with it: they are stopped first, so that this is much."""
    with Load(admin, history) as load:
        with operating.stopped(stack, "notification-worker", "suggestion-worker"):
            load.acknowledges(100)
            with operating.stopped(stack, "rabbitmq"):
                shutil.rmtree(stack.rabbitmq.folder / "data")
        load.acknowledges(100)
    hold()


def kill(stack: RunningStack, admin: Traceline, history: History, *, times: int) -> None:
    with Load(admin, history) as load:
        for _ in range(times):
            load.acknowledges(50)
            stack.kill("rabbitmq")
            load.acknowledges(50)
            stack.wait_ready()
        load.acknowledges(50)
    answers = {operation.answer for operation in history.operations}
    assert answers <= {"200", "201", "204", "404"}, history.summary()


def lag(stack: RunningStack) -> int:
    """How many of catalog's events are not published yet."""
    unpublished: int = value(
        stack,
        "catalog",
        "SELECT head + (SELECT count(*) FROM outbox WHERE feed_seq IS NULL) - position FROM feed_head, relay_position",
    )
    return unpublished
