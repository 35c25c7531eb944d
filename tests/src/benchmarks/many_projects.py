"""What 999 other projects cost one project, in the stack: a run, and the start of a suggestion worker."""

import statistics
import time
from typing import Any

from acceptance.client import Traceline
from acceptance.process import fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.rest import settled
from acceptance.stack import RunningStack
from benchmarks.engine.table import header, row, seconds
from benchmarks.texts import Texts

_PROJECTS = 1000
_ITEMS = 100
_RUNS = 7
_WORKER = "suggestion-worker-0"


def main() -> None:
    """Print both, alone and beside them. Each project has 100 items."""
    with fresh_folder() as folder, RunningStack(folder) as stack, Traceline(stack.base_url) as client:
        admin = client.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        one = _filled(admin, 0)
        header(f"A project of {_ITEMS} items", "alone", f"of {_PROJECTS:,}", "goal")
        settled(stack)
        alone = _generate(one), _start(stack)
        for number in range(1, _PROJECTS):
            _filled(admin, number)
        settled(stack)
        beside = _generate(one), _start(stack)
    row(f"a run, median of {_RUNS}, s", seconds(alone[0]), seconds(beside[0]), "as alone")
    row("a worker starts, s", seconds(alone[1]), seconds(beside[1]), "3")


def _filled(admin: Traceline, number: int) -> Traceline:
    """Return the admin in a new project with its items."""
    project = admin.within(admin.new_project(key=f"BENCH{number}"))
    texts = Texts(number)
    records: list[dict[str, Any]] = []
    for item in range(_ITEMS // 2):
        near = texts.requirement(item, "R")
        records += [{"kind": "requirement", **near}, {"kind": "test_case", **texts.test_case(item, "T", near)}]
    planned = project.plan_import(records)
    project.apply_import(planned, suggest=False)
    return project


def _generate(project: Traceline) -> float:
    """Return the seconds that a run over everything takes; the first is not counted."""
    times = []
    for _ in range(_RUNS + 1):
        began = time.perf_counter()
        project.generate(algorithm="hybrid")
        times.append(time.perf_counter() - began)
    return statistics.median(times[1:])


def _start(stack: RunningStack) -> float:
    """Return the seconds from the start of a worker until it is ready."""
    stack.supervisor.stop_process(_WORKER)
    began = time.perf_counter()
    stack.supervisor.start_process(_WORKER)
    stack.wait_ready()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
