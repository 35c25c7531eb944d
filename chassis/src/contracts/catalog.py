"""What catalog-service tells: the full state of an item in each event."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from chassis.messaging.payloads import Alteration, Ending, Momentary, Payload


class _State(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Change(_State):
    """One field before and after."""

    before: Any
    after: Any


class _ItemState(_State):
    """What requirements and test cases have in common."""

    id: UUID
    external_id: str | None
    title: str
    description: str
    type: str
    priority: str
    status: str
    module: str | None
    tags: list[str]
    custom_metadata: dict[str, Any] | None
    source_system: str | None
    source_url: str | None
    created_by: str | None
    section: Annotated[list[str], Field(description="Titles of the sections that it is in, from the top.")] = []
    position: Annotated[
        str, Field(description="Its place in the outline; empty in events of before there was one.")
    ] = ""
    version: int
    created_at: datetime
    updated_at: datetime


class RequirementState(_ItemState):
    """A requirement as it is after the event (as it was, when deleted)."""

    level: Annotated[str | None, Field(description="Key of a level of the project.")] = None
    derived: Annotated[bool, Field(description="Has no requirement above it, on purpose.")] = False
    rationale: str | None = None


class TestCaseState(_ItemState):
    """A test case as it is after the event (as it was, when deleted)."""

    __test__: ClassVar[bool] = False  # pytest: not a test class

    steps: dict[str, str] | None
    preconditions: str | None
    postconditions: str | None
    test_data: dict[str, Any] | None
    automation_status: str
    execution_time_minutes: int | None


class LinkState(_State):
    """A trace link, with the names of its ends for people to read."""

    id: UUID
    requirement_id: UUID
    test_case_id: UUID
    link_type: str
    link_source: str
    confidence_score: float | None
    notes: str | None
    created_at: datetime
    created_by: str | None
    confirmed_at: datetime | None
    confirmed_by: str | None
    updated_at: Annotated[datetime | None, Field(description="None in events of before links had it.")] = None
    requirement_title: str
    test_case_title: str
    requirement_external_id: str | None = None
    test_case_external_id: str | None = None


class RelationState(_State):
    """A requirement above another, with the names of both for people to read."""

    id: UUID
    child_id: UUID
    parent_id: UUID
    relation_type: str
    role: str | None
    notes: str | None
    source: str
    created_at: datetime
    created_by: str | None
    confirmed_at: datetime | None
    confirmed_by: str | None
    updated_at: datetime
    child_title: str
    parent_title: str
    child_external_id: str | None
    parent_external_id: str | None


class RequirementCreated(Payload):
    """A requirement was created."""

    wire_name = "catalog.requirement.created"
    requirement: RequirementState


class RequirementUpdated(Alteration):
    """Fields of a requirement changed."""

    wire_name = "catalog.requirement.updated"
    requirement: RequirementState
    changes: dict[str, Change]


class RequirementDeleted(Ending):
    """A requirement was deleted; its links and relations follow, each with an event of its own."""

    wire_name = "catalog.requirement.deleted"
    requirement: RequirementState


class TestCaseCreated(Payload):
    """A test case was created."""

    __test__: ClassVar[bool] = False

    wire_name = "catalog.test_case.created"
    test_case: TestCaseState


class TestCaseUpdated(Alteration):
    """Fields of a test case changed."""

    __test__: ClassVar[bool] = False

    wire_name = "catalog.test_case.updated"
    test_case: TestCaseState
    changes: dict[str, Change]


class TestCaseDeleted(Ending):
    """A test case was deleted; its links follow, each with an event of its own."""

    __test__: ClassVar[bool] = False

    wire_name = "catalog.test_case.deleted"
    test_case: TestCaseState


class LinkCreated(Payload):
    """A requirement and a test case were linked; `suggestion_id` when a suggestion was accepted."""

    wire_name = "catalog.link.created"
    link: LinkState
    suggestion_id: UUID | None = None


class LinkUpdated(Alteration):
    """Fields of a link changed, or it was confirmed."""

    wire_name = "catalog.link.updated"
    link: LinkState
    changes: dict[str, Change]


class LinkDeleted(Ending):
    """A link was deleted, by itself or with one of its ends."""

    wire_name = "catalog.link.deleted"
    link: LinkState


class RelationCreated(Payload):
    """A requirement was put below another."""

    wire_name = "catalog.relation.created"
    relation: RelationState


class RelationUpdated(Alteration):
    """Fields of a relation changed, or it was confirmed."""

    wire_name = "catalog.relation.updated"
    relation: RelationState
    changes: dict[str, Change]


class RelationDeleted(Ending):
    """A relation was deleted, by itself or with one of its requirements."""

    wire_name = "catalog.relation.deleted"
    relation: RelationState


class CoverageChanged(Momentary):
    """There are more or fewer requirements, or more or fewer of them are covered: at most one event a second."""

    wire_name = "catalog.coverage.changed"
    coverage: Annotated[float, Field(description="0..1; 0 where there are no requirements.")]
    covered_requirements: int
    total_requirements: int


class CoverageDropped(Momentary):
    """Coverage (0..1) went from at or above `threshold` to below it."""

    wire_name = "catalog.coverage.dropped"
    coverage: float
    threshold: float
    covered_requirements: int
    total_requirements: int


class ImportApplied(Payload):
    """An import is in the record: what it changed was told by events with its id as `batchid`, this is the last."""

    wire_name = "catalog.import.applied"
    import_id: UUID
    format: str | None
    file_name: str | None
    sha256: str | None
    counts: Annotated[
        dict[str, dict[str, int]],
        Field(
            description="How many of a kind (requirement, test_case, link, relation) met an action (create, update,"
            " delete)."
        ),
    ]
    not_applied: Annotated[
        int, Field(description="How many of its changes were not made, since it was cancelled or failed midway.")
    ] = 0
    suggest: Annotated[bool, Field(description="Whether suggestions are to be made for what it changed.")] = True

    def count(self, kind: str, action: str) -> int:
        """Return how many of a kind met an action."""
        return self.counts.get(kind, {}).get(action, 0)


class ImportProgressed(Momentary):
    """An import that is being applied has come further: at most one event a second; the actor asked for it.

    One that takes no second has none; its end is told by ImportApplied.
    """

    wire_name = "catalog.import.progressed"
    import_id: UUID
    status: Literal["applying"]
    progress: Annotated[float, Field(description="0..1; the part before 0.6 was reading and planning.")]


class TestRunCompleted(Momentary):
    """A run of tests has ended, or one that had ended got more results: its counts as they are now."""

    __test__: ClassVar[bool] = False

    wire_name = "catalog.test_run.completed"
    run_id: UUID
    key: str
    name: str | None
    branch: str
    commit: str | None
    environment: str | None
    build_url: str | None
    is_default_branch: bool
    counts: Annotated[
        dict[str, int], Field(description="`tests`, and how many of them `passed`, `failed`, were `flaky`, `skipped`.")
    ]
    newly_failed: Annotated[
        list[UUID], Field(description="Requirements that fail now and did not before this run; at most 100.")
    ]
    newly_passed: Annotated[
        list[UUID], Field(description="Requirements that failed before this run and do not now; at most 100.")
    ]


class ReferenceOwnerState(_State):
    """The item that has a reference."""

    kind: Literal["requirement", "test_case"]
    id: UUID
    external_id: str | None
    title: str


class ReferenceState(_State):
    """A reference to an item that is not there: `key` is the external_id that it waits for.

    Where neither end is there it has no owner, and `other_key` is the external_id of the other end.
    """

    id: UUID
    owner: ReferenceOwnerState | None
    kind: Literal["link", "relation"]
    key: str
    key_kind: Literal["requirement", "test_case"]
    other_key: str | None
    link_type: str | None
    source: str | None
    import_id: UUID | None
    since: datetime


class ReferenceDeleted(Momentary):
    """A reference that waited for its other end was given up: it makes no link any more."""

    wire_name = "catalog.reference.deleted"
    reference: ReferenceState


class AcceptedFailureState(_State):
    """A failure of a test, or of all tests of a test case, that is accepted until a time."""

    id: UUID
    automated_test_id: int | None
    test_name: str | None
    test_case_id: UUID | None
    test_case_external_id: str | None
    test_case_title: str | None
    reason: str
    until: datetime
    issue_url: str | None
    created_by: str
    created_at: datetime


class AcceptedFailureCreated(Payload):
    """A failure is accepted until a time."""

    wire_name = "catalog.accepted_failure.created"
    accepted_failure: AcceptedFailureState


class AcceptedFailureEnded(Ending):
    """A failure is not accepted any more: its time is over, it is no longer needed, or a person ended it."""

    wire_name = "catalog.accepted_failure.ended"
    accepted_failure: AcceptedFailureState
    ended_at: datetime
    ended_because: Literal["until", "no_longer_needed", "person"]


class RetiredTest(_State):
    """A test that is gone for good from some lanes, where it was missing."""

    id: int
    name: str
    lanes: Annotated[list[str], Field(description="Branch, environment if any, and lane, such as `main, ci/unit`.")]
    test_case_ids: list[UUID]


class AutomatedTestsRetired(Momentary):
    """Missing tests are retired, at most 500 an event: they do not count until they run again."""

    wire_name = "catalog.automated_tests.retired"
    note: str
    tests: list[RetiredTest]


class FieldsChanged(Momentary):
    """Admins of the project have defined its fields anew; each as GET /fields has it."""

    wire_name = "catalog.fields.changed"
    before: list[dict[str, Any]]
    after: list[dict[str, Any]]


class LevelsChanged(Momentary):
    """Admins of the project have defined its levels anew; each as GET /levels has it."""

    wire_name = "catalog.levels.changed"
    before: list[dict[str, Any]]
    after: list[dict[str, Any]]


EVENTS: tuple[type[Payload], ...] = (
    RequirementCreated,
    RequirementUpdated,
    RequirementDeleted,
    TestCaseCreated,
    TestCaseUpdated,
    TestCaseDeleted,
    LinkCreated,
    LinkUpdated,
    LinkDeleted,
    RelationCreated,
    RelationUpdated,
    RelationDeleted,
    CoverageChanged,
    CoverageDropped,
    ImportApplied,
    ImportProgressed,
    TestRunCompleted,
    ReferenceDeleted,
    AcceptedFailureCreated,
    AcceptedFailureEnded,
    AutomatedTestsRetired,
    FieldsChanged,
    LevelsChanged,
)
