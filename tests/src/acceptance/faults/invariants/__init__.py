"""What must hold after any fault, once everything has drained."""

from typing import Protocol

from acceptance.client import Traceline
from acceptance.faults.databases import System
from acceptance.faults.draining import Heads, drained
from acceptance.faults.history import History
from acceptance.faults.invariants import copies, feeds, notifications, pairs, record

_SHOWN = 50


class Hold(Protocol):
    """Checks every invariant of one system and one history, once everything has drained."""

    def __call__(self, *, within: float = 300.0) -> None:
        """Wait `within` seconds for the draining; raise AssertionError with every violation."""


def hold(system: System, admin: Traceline, history: History, *, within: float = 300.0) -> None:
    """Wait until everything has drained, then check every invariant.

    Args:
        system: whose databases are looked at, read-only.
        admin: reads the record over the API.
        history: what was acknowledged; every write of it must be readable.
        within: seconds for the draining.

    Raises:
        AssertionError: not drained, or violated; the message lists every violation.
    """
    found = violations(system, admin, history, drained(system, within=within))
    shown = "\n".join(f"- {violation}" for violation in found[:_SHOWN])
    more = f"\n... and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    assert not found, f"{len(found)} violations:\n{shown}{more}"


def violations(system: System, admin: Traceline, history: History, heads: Heads) -> list[str]:
    """Everything that is wrong now, a line each; ``heads``: how far the feeds went when everything had drained.

    What is told after that, since suggestions are settled now and then, is still on its way.
    """
    return [
        *history.violations,
        *record.violations(admin, history),
        *copies.violations(system),
        *pairs.violations(system),
        *feeds.violations(system, heads),
        *notifications.violations(system, heads),
    ]
