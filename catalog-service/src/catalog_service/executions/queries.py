"""What requests about results are asked for, beside their bodies."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, Field

from catalog_service.executions.run_schemas import ShortText, TestRunStatus
from catalog_service.executions.schemas import ResultStatus
from catalog_service.settings import Settings
from catalog_service.verdict_states import IS_TRACED
from catalog_service.verdicts import Basis
from chassis.core.problems import Invalid
from chassis.core.wording import shown
from chassis.web.conditions import Conditions, containing
from chassis.web.listing import Ids, PageQuery
from chassis.web.parameters import (
    FREE_ALTERNATIVES,
    alternatives,
    parse_choice,
    parse_ids,
    parse_own_ids,
    parse_own_numbers,
    parse_words,
)

Branch = Annotated[ShortText, Field(description="The branch whose results count; by default main's.")]
Fallback = Annotated[
    bool, Field(description="Whether a test case without a result on the branch has that of the default branch.")
]
Environment = Annotated[ShortText, Field(description="Results of this environment alone.")]
Commit = Annotated[
    ShortText, Field(description="Results of this commit alone: a test that did not run at it has not run.")
]


class Older(StrEnum):
    """Whether results of other commits stand for what a commit does not have."""

    DENY = "deny"
    ALLOW = "allow"


OlderResults = Annotated[
    Older,
    Field(description="With a commit: `allow` takes for a test that did not run at it the last result of the branch."),
]
AllowFlaky = Annotated[bool, Field(description="Whether flaky requirements are verified, too.")]


def basis_of(query: Any, settings: Settings, now: datetime) -> Basis:
    """Return which results count for a query that has what BasisQuery has."""
    return Basis(
        query.branch or settings.results_default_branch,
        settings.results_default_branch,
        now,
        timedelta(days=settings.results_stale_days),
        query.fallback,
        query.environment,
        query.commit,
        query.older is Older.ALLOW,
    )


class BasisQuery(BaseModel):
    """Which results count."""

    branch: Branch = None
    fallback: Fallback = True
    environment: Environment = None
    commit: Commit = None
    older: OlderResults = Older.DENY


class VerdictQuery(PageQuery, BasisQuery):
    """Which results count, and which page of what was executed is shown."""

    allow_flaky: AllowFlaky = False


class RunsQuery(PageQuery):
    """What narrows the list of runs."""

    branch: Annotated[str | None, Field(description=f"Branches: {FREE_ALTERNATIVES}.")] = None
    commit: Annotated[str | None, Field(description=f"Commits: {FREE_ALTERNATIVES}.")] = None
    environment: Annotated[str | None, Field(description=f"Environments: {FREE_ALTERNATIVES}.")] = None
    key: Annotated[str | None, Field(description=f"Keys: {FREE_ALTERNATIVES}.")] = None
    status: Annotated[str | None, alternatives(TestRunStatus)] = None
    ids: Ids = None

    def conditions(self) -> Conditions:
        """Return what the runs must fulfil; raises Invalid."""
        conditions = Conditions()
        conditions.choose("r.branch", parse_words("branch", self.branch))
        conditions.choose("r.commit", parse_words("commit", self.commit))
        environments = parse_words("environment", self.environment)
        conditions.match("environment", environments, "r.environment = ANY({values})")
        conditions.choose("r.key", parse_words("key", self.key))
        conditions.choose("r.status", parse_choice("status", self.status, TestRunStatus))
        conditions.choose("r.id", parse_own_ids(self.ids))
        return conditions


class RunResultsQuery(PageQuery):
    """What narrows the results of a run."""

    status: Annotated[str | None, alternatives(ResultStatus)] = None
    search: Annotated[str | None, Field(max_length=200, description="Part of a name or class.")] = None
    test_case_id: Annotated[str | None, Field(description="Results that count for one of these test cases.")] = None
    requirement_id: Annotated[str | None, Field(description="Results that count for one of these requirements.")] = None
    changed: Annotated[
        str | None,
        Field(
            description="newly_failed, newly_passed: how the test ended otherwise in the run before, on the same branch"
            " and environment.",
        ),
    ] = None

    def conditions(self) -> Conditions:
        """Return what the executions `e` must fulfil; raises Invalid."""
        conditions = Conditions()
        conditions.choose("e.status", parse_choice("status", self.status, ResultStatus))
        if self.search is not None:
            conditions.add(
                "EXISTS (SELECT FROM automated_tests n WHERE n.id = e.test_id"
                " AND (n.name ILIKE %(search)s OR n.class_name ILIKE %(search)s))",
                search=containing(self.search),
            )
        counts_for = "e.test_id IN (SELECT c.test_id FROM automated_test_cases c {joined} = ANY({{values}}))"
        conditions.match(
            "test_case_id",
            parse_ids("test_case_id", self.test_case_id),
            counts_for.format(joined="WHERE c.test_case_id"),
        )
        conditions.match(
            "requirement_id",
            parse_ids("requirement_id", self.requirement_id),
            counts_for.format(joined="JOIN links l ON l.test_case_id = c.test_case_id WHERE l.requirement_id"),
        )
        if self.changed is not None:
            conditions.add(f"({' OR '.join(_changed(word) for word in self.changed.split(','))})")
        return conditions


_BEFORE = """(SELECT p.status FROM executions p WHERE p.test_id = e.test_id AND p.context_id = e.context_id
    AND p.at < e.at AND p.status <> 'skipped' ORDER BY p.at DESC, p.run_id DESC LIMIT 1)"""


def _changed(word: str) -> str:
    match word.strip():
        case "newly_failed":
            return f"(e.status = 'failed' AND coalesce({_BEFORE}, 'passed') <> 'failed')"
        case "newly_passed":
            return f"(e.status IN ('passed', 'flaky') AND {_BEFORE} = 'failed')"
        case other:
            detail = f"There is no change {shown(other)}; it can be newly_failed or newly_passed."
            raise Invalid.field("/query/changed", detail, "unknown_value")


class TestsQuery(PageQuery):
    """What narrows the list of automated tests."""

    __test__ = False

    linked: Annotated[
        bool | None, Field(description="Whether a requirement is traced to it: a test case that has a link.")
    ] = None
    test_case_id: Annotated[str | None, Field(description="Tests that count for one of these test cases.")] = None
    search: Annotated[str | None, Field(max_length=200, description="Part of a name or class.")] = None
    suspected_rename: Annotated[
        bool, Field(description="Only tests that may be the new name of one that is not run any more.")
    ] = False
    missing: Annotated[
        bool,
        Field(
            description="Only tests that are missing: a test case counts on them, and a whole run of their lane did not"
            " have them. Rows then say where."
        ),
    ] = False
    branch: Annotated[
        str | None, Field(description=f"With `missing`: on one of these branches; {FREE_ALTERNATIVES}.")
    ] = None
    lane: Annotated[str | None, Field(description=f"With `missing`: in one of these lanes; {FREE_ALTERNATIVES}.")] = (
        None
    )
    retired: Annotated[
        bool | None,
        Field(description="Whether a person has retired them somewhere, and they have not run there since."),
    ] = None
    ids: Ids = None

    def conditions(self) -> Conditions:
        """Return what the tests `t` must fulfil; raises Invalid."""
        conditions = Conditions("NOT t.is_manual", "t.merged_into IS NULL")
        if self.linked is not None:
            conditions.add(IS_TRACED if self.linked else f"NOT {IS_TRACED}")
        conditions.match(
            "test_case_id",
            parse_ids("test_case_id", self.test_case_id),
            "EXISTS (SELECT FROM automated_test_cases c WHERE c.test_id = t.id AND c.test_case_id = ANY({values}))",
        )
        if self.search is not None:
            conditions.add("(t.name ILIKE %(search)s OR t.class_name ILIKE %(search)s)", search=containing(self.search))
        if self.retired is not None:
            is_retired = "EXISTS (SELECT FROM retired_tests d WHERE d.test_id = t.id)"
            conditions.add(is_retired if self.retired else f"NOT {is_retired}")
        conditions.choose("t.id", parse_own_numbers(self.ids))
        return conditions

    def missing_conditions(self) -> Conditions | None:
        """Return what a context `c` must fulfil that tests are missing in; None: missing ones are not asked for.

        Raises Invalid.
        """
        places = {"branch": self.branch, "lane": self.lane}
        if not self.missing:
            for name, value in places.items():
                if value is not None:
                    detail = f"{name} says where tests are missing; send missing=true with it."
                    raise Invalid.field(f"/query/{name}", detail, "contradiction")
            return None
        conditions = Conditions()
        for name, value in places.items():
            conditions.choose(f"c.{name}", parse_words(name, value))
        return conditions
