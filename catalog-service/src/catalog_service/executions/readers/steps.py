"""How a scenario of Cucumber ended, from how its steps and hooks did."""

from collections.abc import Iterable

from catalog_service.executions.readers.results import Status

_FAILED = frozenset({"failed", "ambiguous"})
NOT_WRITTEN = frozenset({"undefined", "pending"})


def status_of(steps: Iterable[str], *, undefined_fails: bool) -> Status:
    """Return the status of a scenario; `steps` in lower case.

    One that nobody knows the end of has not passed, nor has one without steps.
    """
    seen = {*steps}
    if seen & _FAILED or (undefined_fails and seen & NOT_WRITTEN):
        return "failed"
    return "passed" if seen == {"passed"} else "skipped"
