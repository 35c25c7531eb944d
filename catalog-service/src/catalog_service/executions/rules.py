"""What the rules of a gate are called, and which limits they take."""

from enum import StrEnum


class RuleName(StrEnum):
    """What a rule measures."""

    MIN_COVERAGE = "min_coverage"
    MIN_VERIFIED = "min_verified"
    MIN_ROLLED_VERIFIED = "min_rolled_verified"
    MAX_UNCOVERED = "max_uncovered"
    MAX_FAILED_REQUIREMENTS = "max_failed_requirements"
    MAX_FAILED = "max_failed"
    MAX_FLAKY = "max_flaky"
    MAX_STALE = "max_stale"
    MAX_NOT_RUN = "max_not_run"
    MAX_SUSPECT = "max_suspect"
    MAX_WITHOUT_PARENT = "max_without_parent"
    MAX_WITHOUT_CHILD = "max_without_child"
    MAX_SUSPECT_RELATIONS = "max_suspect_relations"
    MAX_PENDING_SUGGESTIONS = "max_pending_suggestions"
    MAX_UNLINKED_TESTS = "max_unlinked_tests"
    REQUIRE_RUN = "require_run"
    MAX_RUN_AGE_HOURS = "max_run_age_hours"
    MAX_MISSING = "max_missing"
    MAX_UNSTEADY = "max_unsteady"
    MAX_INCOMPLETE_RUNS = "max_incomplete_runs"
    MIN_TESTS = "min_tests"
    NO_NEW_FAILURES = "no_new_failures"


PERCENT = frozenset({RuleName.MIN_COVERAGE, RuleName.MIN_VERIFIED, RuleName.MIN_ROLLED_VERIFIED})
SWITCHES = frozenset({RuleName.REQUIRE_RUN, RuleName.NO_NEW_FAILURES})
"""Rules that hold or do not; their limit is true."""
ABOUT_RUNS = frozenset(
    {RuleName.REQUIRE_RUN, RuleName.MAX_RUN_AGE_HOURS, RuleName.MIN_TESTS, RuleName.MAX_INCOMPLETE_RUNS}
)
"""Rules that are of no requirement."""
ABOUT_RESULTS = frozenset(
    {
        RuleName.MIN_VERIFIED,
        RuleName.MIN_ROLLED_VERIFIED,
        RuleName.MAX_FAILED_REQUIREMENTS,
        RuleName.MAX_FAILED,
        RuleName.MAX_FLAKY,
        RuleName.MAX_STALE,
        RuleName.MAX_NOT_RUN,
        RuleName.MAX_MISSING,
        RuleName.MAX_UNSTEADY,
        RuleName.MAX_INCOMPLETE_RUNS,
        RuleName.NO_NEW_FAILURES,
    }
)
"""Rules that say nothing where nothing has run."""


def checked_limit(rule: RuleName, limit: float | bool | None) -> float | bool:
    """Return the limit of a rule, true of a switch; raise ValueError for one that it cannot have."""
    if rule in SWITCHES:
        if limit not in {None, True}:
            raise ValueError(f"{rule} holds or does not; leave out the rule, or its limit")
        return True
    if limit is None or isinstance(limit, bool):
        raise ValueError(f"{rule} needs a limit, such as 0")
    if not 0 <= limit <= (100 if rule in PERCENT else 10**9):
        raise ValueError(f"the limit of {rule} is {'a percentage, 0 to 100' if rule in PERCENT else '>= 0'}")
    return limit
