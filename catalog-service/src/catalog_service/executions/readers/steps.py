"""How a scenario of Cucumber ended, from how its steps and hooks did."""

from collections.abc import Iterable

from catalog_service.executions.readers.results import Status

_FAILED = frozenset({"failed", "ambiguous"})
_NOT_WRITTEN = frozenset({"undefined", "pending"})


def status_of(steps: Iterable[str], *, undefined_fails: bool) -> Status:
    """Return the status of a scenario; `steps` in lower case."""
    seen = {*steps}
    if seen & _FAILED or (undefined_fails and seen & _NOT_WRITTEN):
        return "failed"
    if seen & _NOT_WRITTEN or "skipped" in seen:
        return "skipped"
    return "passed"
