"""What the stack takes while nobody asks for anything, a program at a time."""

import time
from collections import Counter
from contextlib import suppress

import psutil

from acceptance.rest import settled
from acceptance.stack import RunningStack
from acceptance.stack_folder import StackFolder

_SECONDS = 30.0
_COME_TO_REST = 15.0
_GOAL = 0.05


def measure(stack: RunningStack) -> None:
    """Print a table of the programs, who takes the most first."""
    settled(stack)
    time.sleep(_COME_TO_REST)
    before, began = _cpu_seconds(stack), time.perf_counter()
    time.sleep(_SECONDS)
    used, seconds = _cpu_seconds(stack), time.perf_counter() - began
    used.subtract(before)
    memory = _memory(stack)
    print(f"\nThe stack with the demo project, idle for {seconds:.0f} s; memory: what is shared is divided up")
    print(f"{'':24}{'CPU of one core':>16}{'MB':>6}{'goal':>7}")
    for program, cpu in used.most_common():
        print(f"{program:24}{cpu / seconds:16.2%}{memory[program] / 2**20:6.0f}")
    total = sum(used.values()) / seconds
    print(f"{'all':24}{total:16.2%}{sum(memory.values()) / 2**20:6.0f}{_GOAL:7.0%}")


def _cpu_seconds(stack: RunningStack) -> Counter[str]:
    """Return what each program has used so far, processes included that it has started and seen the end of.

    For those that end between two looks, their own look of before and what their parent has taken over cancel out.
    """
    used: Counter[str] = Counter()
    for process, program in programs(stack, stack.pid):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            used[program] += times.user + times.system + times.children_user + times.children_system
    return used


def _memory(stack: RunningStack) -> Counter[str]:
    held: Counter[str] = Counter()
    for process, program in programs(stack, stack.pid):
        with suppress(psutil.NoSuchProcess):
            held[program] += process.memory_full_info().pss
    return held


def programs(stack: StackFolder, parent: int) -> list[tuple[psutil.Process, str]]:
    """Return every process with the program that it belongs to: its own, or that of who started it.

    Args: ``parent`` is the process that started the stack.
    """
    names = {pid: name for name, pid in stack.pids().items()} | {parent: "make stack, supervisord"}
    found = []
    for process in stack.processes():
        with suppress(psutil.NoSuchProcess):
            family = [process, *process.parents()]
            found.append((process, next((names[one.pid] for one in family if one.pid in names), process.name())))
    return found
