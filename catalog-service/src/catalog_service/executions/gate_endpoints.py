"""HTTP: the gate."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from catalog_service.authorship import author
from catalog_service.executions import policy_store
from catalog_service.executions.endpoints import SettingsOf
from catalog_service.executions.gate import Gate
from catalog_service.executions.gate_documents import as_junit, as_markdown
from catalog_service.executions.policies import (
    AcceptedFailures,
    Policy,
    Rule,
    StoredRule,
    Where,
    rules_of,
)
from catalog_service.executions.queries import AllowFlaky, BasisQuery, Older, basis_of
from catalog_service.executions.rules import RuleName
from catalog_service.executions.run_schemas import HealthReason, LaneOfRun, RunHealth, TestCounts, TestRunStatus
from catalog_service.executions.schemas import Reason
from catalog_service.items.filters import ByField, gather_fields
from catalog_service.settings import Settings
from catalog_service.snapshot import snapshot
from catalog_service.values import PriorityLevel, RequirementStatus, RequirementType
from chassis.core.problems import Invalid
from chassis.db.database import Database, Db
from chassis.messaging.events import actor_of
from chassis.web.callers import Admin, Viewer
from chassis.web.listing import Page, PageQuery, documented, page, read_query
from chassis.web.parameters import FREE_ALTERNATIVES, alternatives
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import answer, check_precondition, created, item
from chassis.web.strict_route import StrictRoute
from chassis.web.text_forms import TextForm

router = APIRouter(prefix="/api/v1/reports", route_class=StrictRoute, tags=["Results"])


class GateFormat(StrEnum):
    """Forms of the answer."""

    JSON = "json"
    MARKDOWN = "markdown"
    JUNIT = "junit"


class GateBasisQuery(BasisQuery):
    """Which results a gate is of."""

    allow_flaky: AllowFlaky = False
    accepted: Annotated[
        AcceptedFailures,
        Field(
            description="`allow` lets pass what fails for nothing but failures that are accepted, and names these in"
            " `accepted`. Rules of a policy say it each by itself."
        ),
    ] = AcceptedFailures.DENY
    format: Annotated[GateFormat, Field(description="The form of the answer.")] = GateFormat.JSON


Percent = Annotated[float | None, Field(ge=0, le=100, allow_inf_nan=False)]
Most = Annotated[int | None, Field(ge=0, le=10**9)]


class GateQuery(GateBasisQuery):
    """A gate with its rules."""

    min_coverage: Annotated[Percent, Field(description="Percent of requirements with a test case.")] = None
    min_verified: Annotated[Percent, Field(description="Percent of requirements that are verified.")] = None
    min_rolled_verified: Annotated[
        Percent,
        Field(description="Percent of requirements that are verified with all below them; accepted failures fail."),
    ] = None
    max_uncovered: Annotated[Most, Field(description="Requirements without a test case.")] = None
    max_failed_requirements: Annotated[Most, Field(description="Requirements that fail.")] = None
    max_failed: Annotated[Most, Field(description="The same as `max_failed_requirements`.")] = None
    max_flaky: Annotated[Most, Field(description="Requirements that are flaky.")] = None
    max_stale: Annotated[Most, Field(description="Requirements that passed too long ago, or before a change.")] = None
    max_not_run: Annotated[Most, Field(description="Requirements of which no test case ran.")] = None
    max_suspect: Annotated[Most, Field(description="Links in doubt.")] = None
    max_without_parent: Annotated[
        Most,
        Field(
            description="Requirements without one above, of levels that need one, of no level, or of those that `level`"
            " names; those that are derived, with a rationale, need none."
        ),
    ] = None
    max_without_child: Annotated[
        Most,
        Field(description="Requirements without one below, of levels that need one, of no level, or as `level` says."),
    ] = None
    max_suspect_relations: Annotated[Most, Field(description="Relations between requirements in doubt.")] = None
    max_pending_suggestions: Annotated[Most, Field(description="Suggestions that wait for a review.")] = None
    max_unlinked_tests: Annotated[Most, Field(description="Tests of CI without a test case.")] = None
    require_run: Annotated[
        bool | None,
        Field(description="Runs of the commit, or of the newest of the branch, that have ended and tell the whole."),
    ] = None
    max_run_age_hours: Annotated[
        float | None, Field(ge=0, le=10**6, allow_inf_nan=False, description="Since the last finished run began.")
    ] = None
    max_missing: Annotated[
        Most, Field(description="Test cases with a test that the last whole run of its lane did not have.")
    ] = None
    max_unsteady: Annotated[
        Most, Field(description="Tests with at least 4 changes in their last 20 runs, whatever the commit.")
    ] = None
    max_incomplete_runs: Annotated[Most, Field(description="Runs of the commit that do not tell the whole.")] = None
    min_tests: Annotated[Most, Field(description="Tests that the run must have.")] = None
    policy: Annotated[
        str | None, Field(min_length=1, max_length=100, description="The name of a saved policy, instead of rules.")
    ] = None
    no_new_failures: Annotated[
        bool | None,
        Field(
            description="No requirement fails that does not on the default branch, or misses a test and is verified"
            " there; on the default branch itself, none newly at the commit."
        ),
    ] = None
    priority: Annotated[str | None, alternatives(PriorityLevel, "Requirements of these alone, in all rules. ")] = None
    module: Annotated[str | None, Field(description=f"Modules: {FREE_ALTERNATIVES}.")] = None
    status: Annotated[str | None, alternatives(RequirementStatus)] = None
    type: Annotated[str | None, alternatives(RequirementType)] = None
    tag: Annotated[str | None, Field(description=f"Tags: {FREE_ALTERNATIVES}.")] = None
    level: Annotated[str | None, Field(description=f"Keys of levels: {FREE_ALTERNATIVES}.")] = None
    by_field: ByField = Field(default_factory=dict)

    _gather = model_validator(mode="before")(gather_fields)

    def where(self) -> Where:
        """Return which requirements the rules are about."""
        own = {name: getattr(self, name) for name in ("priority", "module", "status", "type", "tag", "level")}
        return Where(**own, **self.by_field)

    def rules(self) -> list[Rule]:
        """Return the rules that are asked for; raise Invalid."""
        try:
            given: dict[str, Any] = {name: getattr(self, name) for name in RuleName}
            return rules_of(given, self.where(), self.accepted)
        except ValidationError as error:
            raise Invalid(str(error.errors()[0]["msg"])) from None


PolicyName = Annotated[
    str,
    TextForm("[A-Za-z0-9._-]+", "is no name of a policy: that has letters of A-Z, digits and . _ - alone"),
    Path(min_length=1, max_length=100, description="The name of the policy."),
]


class SavedPolicy(BaseModel):
    """A policy that admins keep."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "9a1b4c1e-4c55-4a57-9f0a-52b0f4b1c3d2",
                    "name": "release",
                    "rules": [{"rule": "max_failed", "limit": 0, "where": {"priority": "critical"}}],
                    "created_by": "admin@example.com",
                    "created_at": "2026-03-02T08:15:00.000000Z",
                    "updated_at": "2026-03-02T08:15:00.000000Z",
                }
            ]
        }
    )

    id: UUID
    name: str
    rules: list[StoredRule]
    created_by: str
    created_at: datetime
    updated_at: datetime


class RunOfGate(BaseModel):
    """A run that the gate has looked at."""

    id: UUID
    key: str
    status: TestRunStatus
    started_at: datetime
    finished_at: datetime | None
    counts: TestCounts
    health: RunHealth
    health_reasons: list[HealthReason]
    lanes: list[LaneOfRun]


class JudgedRule(BaseModel):
    """A rule and what was found."""

    rule: str
    limit: float | bool
    where: dict[str, str]
    actual: float | bool
    passed: bool
    reason: str
    items: Annotated[
        list[dict[str, Any]],
        Field(description="What it is about; the first 50, each with its `reason` in words and its `url`."),
    ]
    total: int


class OlderOfGate(BaseModel):
    """Results of other commits that stand for what the commit does not have."""

    items: Annotated[
        list[dict[str, Any]], Field(description="The first 50, each with its `reason` in words and its `url`.")
    ]
    total: int


class AcceptedOfGate(BaseModel):
    """Accepted failures that were let pass."""

    items: Annotated[
        list[dict[str, Any]], Field(description="The first 50, each with its reason, its end and who accepted it.")
    ]
    total: int


class LanesOfGate(BaseModel):
    """Lanes that the commit lacks."""

    commit: Annotated[str | None, Field(description="The commit that was looked at, if a run names one.")]
    expected: Annotated[
        list[str],
        Field(description="Of the project's setting, of which no run has ended: `require_run` waits for them."),
    ]
    usual: Annotated[
        list[str],
        Field(
            description="Of the commits before it, where there is no setting, each with its environment: a warning.",
            examples=[["ci/e2e", "ci/unit (windows)"]],
        ),
    ]


class GateAnswer(BaseModel):
    """Whether the record passes, rule by rule."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "passed": False,
                    "rules": [
                        {
                            "rule": "max_suspect",
                            "limit": 0,
                            "where": {},
                            "actual": 1,
                            "passed": False,
                            "reason": "1 link is suspect; the limit is 0. REQ-7 went from version 2 to 3 (description)"
                            " after its link with TC-9 was confirmed.",
                            "items": [],
                            "total": 1,
                        }
                    ],
                    "branch": "main",
                    "commit": None,
                    "environment": None,
                    "runs": [],
                    "older": {"total": 0, "items": []},
                    "accepted": {"total": 0, "items": []},
                    "missing_lanes": {"commit": None, "expected": [], "usual": []},
                    "warnings": [],
                    "record_position": 4711,
                    "evaluated_at": "2026-03-02T08:15:00.000000Z",
                }
            ]
        }
    )

    passed: bool
    rules: list[JudgedRule]
    branch: str
    commit: str | None
    environment: str | None
    runs: Annotated[list[RunOfGate], Field(description="The newest 50 of those that were looked at.")]
    older: OlderOfGate
    accepted: AcceptedOfGate
    missing_lanes: LanesOfGate
    warnings: Annotated[list[Reason], Field(description="What closes no gate and should be looked at.")]
    record_position: int
    evaluated_at: datetime


_FORMS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Whether the record passes",
        "content": {
            "text/markdown": {"schema": {"type": "string"}},
            "application/xml": {"schema": {"type": "string"}},
        },
    }
}


async def _judged(
    database: Database, query: GateBasisQuery, rules: list[Rule], settings: Settings, where: Where
) -> Response:
    basis = basis_of(query, settings, datetime.now(UTC))
    async with snapshot(database) as connection:
        rules = rules or await policy_store.unasked(connection, where, query.accepted)
        judged = await Gate(database, connection, basis, allow_flaky=query.allow_flaky).judge(rules)
    if query.format is GateFormat.MARKDOWN:
        return Response(as_markdown(judged), media_type="text/markdown; charset=utf-8")
    if query.format is GateFormat.JUNIT:
        return Response(as_junit(judged), media_type="application/xml")
    return answer(judged)


@router.get(
    "/gate",
    response_model=GateAnswer,
    responses={**_FORMS, **problem_responses(422, "422 invalid_gate")},
    summary="Hold the record against rules",
    openapi_extra=documented(GateQuery),
)
async def read_gate(request: Request, _: Viewer, database: Db, settings: SettingsOf) -> Response:
    """Return whether all rules hold, always with 200: `passed` says it.

    A part of the record that has no requirement does not pass: `empty_scope`, once for each such `where` of the rules.
    Nor does an environment that no result is of. What `max_unlinked_tests` counts is in no part of the record.

    Rules about results do not hold over a run that broke, `run_incomplete`, unless `max_incomplete_runs` says how many
    may; `require_run` says it in its own words. A run that has not ended is told in `warnings`.

    With a commit, results of it alone count: what did not run at it has not run, unless `older=allow` fills it from the
    branch, which `older` of the answer then tells row by row.

    Without a rule or a policy: the rules of the project's settings; where it has none, `require_run`, `max_failed=0`
    and `max_missing=0`.
    """
    query = read_query(request, GateQuery)
    rules = query.rules()
    if query.policy is not None:
        if rules or query.where().given:
            detail = "Send a policy or rules, not both: a saved policy holds as its admins have made it."
            raise Invalid.field("/query/policy", detail, "contradiction")
        softened = {
            "allow_flaky": query.allow_flaky,
            "fallback": not query.fallback,
            "older": query.older is Older.ALLOW,
            "accepted": query.accepted is AcceptedFailures.ALLOW,
        }
        for name, softens in softened.items():
            if softens:
                detail = f"A saved policy holds as its admins have made it: leave {name} out."
                raise Invalid.field(f"/query/{name}", detail, "contradiction")
        async with database.connection() as connection:
            rules = await policy_store.named(connection, query.policy)
    return await _judged(database, query, rules, settings, query.where())


@router.post(
    "/gate",
    response_model=GateAnswer,
    responses={**_FORMS, **problem_responses(422, "422 invalid_gate")},
    summary="Hold the record against a policy",
    openapi_extra=documented(GateBasisQuery),
)
async def judge_policy(request: Request, body: Policy, _: Viewer, database: Db, settings: SettingsOf) -> Response:
    """Like GET, with the rules of a body, each about requirements of its own."""
    query = read_query(request, GateBasisQuery)
    if query.accepted is AcceptedFailures.ALLOW and body.rules:
        detail = "The rules of a policy say themselves what they let pass: `accepted` of each rule."
        raise Invalid.field("/query/accepted", detail, "contradiction")
    return await _judged(database, query, body.rules, settings, Where())


@router.get(
    "/gate/policies",
    response_model=Page[SavedPolicy],
    summary="List saved policies",
    openapi_extra=documented(PageQuery),
)
async def list_gate_policies(request: Request, _: Viewer, database: Db) -> Response:
    """Return one page of the policies that admins keep, by name: `policy=` of the gate takes them."""
    wanted = read_query(request, PageQuery).page(request, policy_store.BY_NAME)
    async with database.connection() as connection:
        found = await policy_store.page(connection, wanted)
    return page(request, wanted, found)


@router.get(
    "/gate/policies/{name}",
    response_model=SavedPolicy,
    responses=problem_responses("404 policy_not_found"),
    summary="Read a saved policy",
)
async def read_gate_policy(request: Request, name: PolicyName, _: Viewer, database: Db) -> Response:
    """Return its rules."""
    async with database.connection() as connection:
        return item(request, await policy_store.read(connection, name))


@router.put(
    "/gate/policies/{name}",
    response_model=SavedPolicy,
    responses={201: {"model": SavedPolicy, "description": "Created"}, **problem_responses("404 policy_not_found", 412)},
    summary="Create or replace a saved policy",
)
async def put_gate_policy(request: Request, name: PolicyName, body: Policy, admin: Admin, database: Db) -> Response:
    """Only admins do, so that no pull request can soften its own gate."""
    async with database.transaction() as connection:
        saved, is_new = await policy_store.put(
            connection, name, body, author(actor_of(admin)), lambda row: check_precondition(request, row)
        )
        path = f"/api/v1/reports/gate/policies/{name}"
        return created(request, saved, path) if is_new else item(request, saved)


@router.delete(
    "/gate/policies/{name}",
    status_code=204,
    response_class=Response,
    responses=problem_responses("404 policy_not_found"),
    summary="Delete a saved policy",
)
async def delete_gate_policy(name: PolicyName, _: Admin, database: Db) -> Response:
    """Gates that name it are answered with 422 then."""
    async with database.transaction() as connection:
        await policy_store.delete(connection, name)
    return Response(status_code=204)
