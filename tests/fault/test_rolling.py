"""Every process is replaced, one after the other, under load: no client sees more than a retryable 503."""

import pytest

from acceptance.client import Traceline
from acceptance.faults.history import History
from acceptance.faults.invariants import Hold
from acceptance.faults.load import Load
from acceptance.stack import RunningStack
from stack.programs import all_processes

# Workers first, gateways last.
PROCESSES = sorted(all_processes(), key=lambda name: ("-worker" not in name, name.startswith("gateway")))


@pytest.mark.long
def test_a_rolling_replacement_fails_no_request(
    stack: RunningStack, admin: Traceline, history: History, hold: Hold
) -> None:
    with Load(admin, history) as load:
        for process in PROCESSES:
            load.acknowledges(30)
            stack.restart(process)
            stack.wait_ready()
        load.acknowledges(50)
    assert {operation.answer for operation in history.operations} <= {"200", "201", "204", "404", "503"}, (
        history.summary()
    )
    hold()
