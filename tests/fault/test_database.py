"""PostgreSQL dies, is stopped, and has a full disk: only retryable answers, and nothing is said that is not so."""

import time

import pytest

from acceptance.client import Traceline
from acceptance.faults import operating
from acceptance.faults.history import History
from acceptance.faults.invariants import Hold
from acceptance.faults.load import Load
from acceptance.stack import RunningStack


@pytest.mark.long
def test_killed_under_load_it_costs_only_retryable_answers(
    stack: RunningStack, admin: Traceline, history: History, hold: Hold
) -> None:
    with Load(admin, history) as load:
        load.acknowledges(50)
        stack.kill("postgres")
        stack.wait_ready()
        load.all_go_on_after(time.monotonic())
    assert {operation.answer for operation in history.operations} <= {"200", "201", "204", "404", "503"}
    hold()


@pytest.mark.long
def test_stopped_for_a_while_it_costs_only_retryable_answers(
    stack: RunningStack, admin: Traceline, history: History, hold: Hold
) -> None:
    with Load(admin, history) as load:
        for away in (2.0, 20.0):
            load.acknowledges(50)
            with operating.stopped(stack, "postgres"):
                time.sleep(away)
            stack.wait_ready()
            load.all_go_on_after(time.monotonic())
    assert {operation.answer for operation in history.operations} <= {"200", "201", "204", "404", "503"}
    hold()
