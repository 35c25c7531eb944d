"""What a requirement comes to with those below it: the rules, of figures, without a database.

Its members are the requirement itself and all below it by relations that roll up, each once; of these, one without
tests that has children says nothing: its children speak for it.
"""

from collections.abc import Mapping
from enum import StrEnum

from catalog_service.verdicts import Verdict

WORST_FIRST = (
    Verdict.FAILED,
    Verdict.FLAKY,
    Verdict.UNCOVERED,
    Verdict.PARTIAL,
    Verdict.NOT_RUN,
    Verdict.STALE,
    Verdict.PASSED,
)
"""The order in which members are named: one that fails before one that nothing tests."""
MOST_NAMED = 5
"""So many of its worst members are named."""


class RolledCoverage(StrEnum):
    """Whether a requirement is tested, by itself or by those below it."""

    COVERED = "covered"
    COVERED_BELOW = "covered_below"
    PARTLY_BELOW = "partly_below"
    UNCOVERED = "uncovered"


def roll_verdict(counts: Mapping[str, int]) -> Verdict:
    """Return the verdict of a requirement whose members have these verdicts, each so often; there is one at least."""
    has = {Verdict(name) for name, count in counts.items() if count}
    if has <= {Verdict.UNCOVERED}:
        return Verdict.UNCOVERED
    for one in (Verdict.FAILED, Verdict.FLAKY):
        if one in has:
            return one
    has_pass = has & {Verdict.PASSED, Verdict.STALE, Verdict.PARTIAL}
    if has_pass and has & {Verdict.UNCOVERED, Verdict.PARTIAL, Verdict.NOT_RUN}:
        return Verdict.PARTIAL
    return next(one for one in (Verdict.NOT_RUN, Verdict.STALE, Verdict.PASSED) if one in has)


def roll_coverage(*, has_link: bool, has_tested: bool, has_untested: bool) -> RolledCoverage:
    """Return the coverage of a requirement.

    Below one without a link stand, by requirements without a link, those that have one (`has_tested`) and those that
    have neither a link nor children (`has_untested`, which a requirement without both is itself).
    """
    if has_link:
        return RolledCoverage.COVERED
    if not has_tested:
        return RolledCoverage.UNCOVERED
    return RolledCoverage.PARTLY_BELOW if has_untested else RolledCoverage.COVERED_BELOW
