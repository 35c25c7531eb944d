"""Each process is killed without warning, under load, and is back by itself."""

import time

import pytest

from acceptance.client import Traceline
from acceptance.faults.history import History
from acceptance.faults.invariants import Hold
from acceptance.faults.load import Load
from acceptance.stack import RunningStack
from stack.programs import processes_with_ports

TIMES = 20

APPS = ["gateway-0", *(name for name in processes_with_ports() if "-service" in name)]
WORKERS = [name for name in processes_with_ports() if "-worker" in name]


def test_an_app_and_a_worker_come_back_and_nothing_is_lost(
    stack: RunningStack, admin: Traceline, history: History, hold: Hold
) -> None:
    # At a gentler pace than the long forms: programs start again beside it, on a machine that others want too.
    with Load(admin, history, pace=0.1) as load:
        kill_and_wait(stack, load, "catalog-service", "suggestion-worker-0")
        kill_and_wait(stack, load, "gateway-0", "catalog-worker")
    hold()


@pytest.mark.long
def test_every_process_comes_back_and_nothing_is_lost(
    stack: RunningStack, admin: Traceline, history: History, hold: Hold
) -> None:
    """Once each, one after the other; two at a time, an app and a worker."""
    with Load(admin, history) as load:
        for app, worker in zip(APPS, WORKERS, strict=True):
            kill_and_wait(stack, load, app, worker)
    hold()


@pytest.mark.long
@pytest.mark.parametrize("program", [*APPS, "gateway-1", *WORKERS])
def test_a_process_that_is_killed_again_and_again_comes_back(
    stack: RunningStack, admin: Traceline, history: History, hold: Hold, program: str
) -> None:
    with Load(admin, history) as load:
        for _ in range(TIMES):
            kill_and_wait(stack, load, program)
    hold()


def kill_and_wait(stack: RunningStack, load: Load, *programs: str) -> None:
    load.acknowledges(20)
    for program in programs:
        stack.kill(program)
    stack.wait_ready()
    load.all_go_on_after(time.monotonic())
