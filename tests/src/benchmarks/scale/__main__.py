"""Measures the stack with a small record, then with a large one, and prints tables; ends by itself.

The load is paced and not as much as the machine can take: a closed loop would measure the queue that it makes itself,
and load and stack share the machine. Suggestions come by themselves as everywhere: each write has some scored.
"""

import argparse
import sys

import uvloop

from acceptance.process import fresh_folder
from acceptance.stack import RunningStack
from benchmarks.scale.memory import Watch
from benchmarks.scale.mix import LIST
from benchmarks.scale.session import Session
from benchmarks.scale.sizes import FULL, SMALL, Scale

_SMALL_LOAD = 60.0
_LIST_ALONE = 60.0
_LOOKS = 120


def main() -> int:
    """Run it. Gives 1 when an answer was wrong, memory grew or a goal was missed, and says which."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="of load on the large record; default 10")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--rate", type=float, default=60.0, help="requests a second in all; default 60")
    parser.add_argument("--small", type=int, default=SMALL.items, help=f"items a side; default {SMALL.items:,}")
    parser.add_argument("--items", type=int, default=FULL.items, help=f"items a side; default {FULL.items:,}")
    given = parser.parse_args()
    small, full = (Scale(items, 3 * items) for items in (given.small, given.items))
    with fresh_folder() as data, RunningStack(data) as stack:
        session = Session(stack, full, connections=given.connections, rate=given.rate)
        uvloop.run(_measure(session, small, full, 60 * given.minutes))
    for missed in session.missed:
        print(f"Missed: {missed}.")
    return 1 if session.missed else 0


async def _measure(session: Session, small: Scale, full: Scale, length: float) -> None:
    await session.grow(small)
    small_reads = session.read()
    small_load = await session.load(min(_SMALL_LOAD, length))
    await session.grow(full)
    session.show_reads(small_reads, session.read())
    session.take_documents()
    watch = Watch(every=length / _LOOKS)
    large_load = await session.load(length, watch)
    # What the machine itself makes of it: late timers, and other guests of the same hardware.
    list_alone = await session.load(min(_LIST_ALONE, length), only=LIST)
    session.show_load(small_load, large_load, list_alone)
    session.show_memory(watch, length)
    session.check_record()


if __name__ == "__main__":
    sys.exit(main())
