"""What projects and members look like on the wire."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    field_validator,
)
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from chassis.core.identity import Role
from chassis.web.tagged import TAGGED_EXAMPLE, Tagged
from chassis.web.text_forms import NOT_BLANK, TextForm
from contracts.name_patterns import MOST_PATTERNS, NamePattern
from contracts.projects import KEY, Language, Visibility
from contracts.result_properties import ResultProperties

_SETTINGS: JsonDict = {
    "automatic_suggestions": True,
    "algorithm": "hybrid",
    "threshold": 0.4,
    "language": None,
    "coverage_threshold": None,
    "gate": [{"rule": "max_failed", "limit": 0, "where": {"priority": ["critical", "high"]}}],
    "name_patterns": [{"name": "tc{number}", "external_id": "TC-{number}"}],
    "expected_lanes": [{"branch": "main", "lanes": ["ci/unit", "ci/e2e"]}],
    "result_properties": {"test_cases": ["test_case", "jira"], "requirements": None},
}
_WRITTEN: JsonDict = {
    "key": "DOOR",
    "name": "Door control",
    "description": "Everything that moves a door",
    "visibility": "members",
}
_READ: JsonDict = {
    **_WRITTEN,
    "archived": False,
    "settings": _SETTINGS,
    "created_at": "2026-03-02T08:15:00.123456Z",
    "created_by": 7,
    "restorable_until": None,
    "role": "admin",
}


KeyOfProject = Annotated[
    str,
    TextForm(
        KEY.pattern,
        "is no key of a project: that has 2 to 10 of A-Z and 0-9, and begins with a letter, such as DOOR",
    ),
]
Key = Annotated[KeyOfProject, Field(description="Unique for ever, and never changed.")]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), NOT_BLANK]
Description = Annotated[str, Field(max_length=5000)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Algorithm(StrEnum):
    """How suggestions are scored."""

    TFIDF = "tfidf"
    KEYWORD = "keyword"
    HYBRID = "hybrid"


class GateRule(BaseModel):
    """A rule of the release gate, as GET /reports/gate takes them."""

    model_config = ConfigDict(extra="forbid")

    rule: Annotated[
        str,
        TextForm("[a-z_]{1,50}", "is no name of a rule: that has 1 to 50 of a-z and _, such as max_failed"),
        Field(examples=["max_failed"]),
    ]
    limit: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    where: Annotated[
        dict[
            Annotated[str, Field(max_length=50)],
            Annotated[list[Annotated[str, Field(max_length=500)]], Field(max_length=100)],
        ],
        Field(max_length=10, description="Of which items: a field, and the values of which it has one."),
    ] = {}
    accepted: Annotated[
        Literal["deny", "allow"], Field(description="allow: accepted failures do not count as failed here.")
    ] = "deny"


_MOST_BRANCHES = 50
_MANUAL = "manual"
"""The lane of what people execute, which no commit has to have."""
_Lane = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), NOT_BLANK]


class ExpectedLanes(BaseModel):
    """Lanes of results, such as a workflow and its job, that the gate waits for at each commit of a branch."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"branch": "main", "lanes": ["ci/unit", "ci/e2e"]}]}
    )

    branch: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
        NOT_BLANK,
        Field(description="A branch, or several: `*` stands for any letters, as in `release/*`."),
    ]
    lanes: Annotated[list[_Lane], Field(min_length=1, max_length=50)]

    @field_validator("lanes")
    @classmethod
    def _check_lanes(cls, lanes: list[str]) -> list[str]:
        if _MANUAL in lanes:
            detail = "is the lane of what people execute, which no commit has to have; leave it out"
            raise PydanticCustomError("reserved", "{lane} {detail}", {"lane": _MANUAL, "detail": detail})
        _refuse_repeated(lanes, "lane")
        return lanes


def _check_branches(expected: list[ExpectedLanes] | None) -> list[ExpectedLanes] | None:
    _refuse_repeated([one.branch for one in expected or ()], "branch")
    return expected


def _refuse_repeated(names: list[str], what: str) -> None:
    """Raise PydanticCustomError for the first name that stands in a list twice."""
    for number, name in enumerate(names):
        if name in names[:number]:
            context = {"what": what, "name": name}
            raise PydanticCustomError("repeated", "the {what} {name} stands here twice; name it once", context)


_ExpectedLanes = Annotated[
    list[ExpectedLanes] | None,
    Field(
        max_length=_MOST_BRANCHES,
        description="What the gate waits for at each commit of a branch; without it, a lane that one of the last 5"
        " commits had and this one has not is a warning.",
    ),
    AfterValidator(_check_branches),
]
_ResultProperties = Annotated[
    ResultProperties | None,
    Field(
        description="Which properties, attributes, labels and tags `NAME:VALUE` of results name test cases, and which"
        " requirements, instead of those that the installation looks for."
    ),
]


class ProjectSettings(BaseModel):
    """What the project wants otherwise than the installation; null: as the installation says."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_SETTINGS]})

    automatic_suggestions: Annotated[
        StrictBool | None, Field(description="Whether changed items are scored in the background.")
    ] = None
    algorithm: Algorithm | None = None
    threshold: Annotated[Share | None, Field(description="The lowest score of a suggestion.")] = None
    language: Annotated[
        Language | None,
        Field(description="That all texts are read in for suggestions; null: each in the one that it shows."),
    ] = None
    coverage_threshold: Annotated[
        Share | None, Field(description="The coverage below which reviewers are told that it has fallen.")
    ] = None
    gate: Annotated[list[GateRule] | None, Field(max_length=50, description="The rules of the release gate.")] = None
    name_patterns: Annotated[
        list[NamePattern] | None,
        Field(
            max_length=MOST_PATTERNS,
            description="What in the names of tests names a test case, instead of what the installation looks for:"
            " `[TC-7]`, `TC-7`, `TC_7` and `C123`.",
        ),
    ] = None
    expected_lanes: _ExpectedLanes = None
    result_properties: _ResultProperties = None


class Project(BaseModel):
    """A project, as its caller sees it."""

    model_config = ConfigDict(json_schema_extra={"examples": [_READ]})

    key: str
    name: str
    description: str
    visibility: Visibility
    archived: bool
    settings: ProjectSettings
    created_at: datetime
    created_by: Annotated[int | None, Field(description="The id of a user; null for MAIN.")]
    restorable_until: Annotated[
        datetime | None, Field(description="Of a deleted project: until when an admin can restore it; else null.")
    ]
    role: Annotated[Role, Field(description="Yours in this project.")]


class ListedProject(Tagged, Project):
    """A project as a row of a list."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**_READ, **TAGGED_EXAMPLE}]})


class NewProject(BaseModel):
    """What an admin gives to make a project."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_WRITTEN]})

    key: Key
    name: Name
    description: Description = ""
    visibility: Visibility = Visibility.MEMBERS
    settings: ProjectSettings = ProjectSettings()


class SettingsChange(TypedDict, total=False):
    """The settings to change; null: as the installation says."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    automatic_suggestions: StrictBool | None
    algorithm: Algorithm | None
    threshold: Share | None
    language: Language | None
    coverage_threshold: Share | None
    gate: Annotated[list[GateRule] | None, Field(max_length=50)]
    name_patterns: Annotated[list[NamePattern] | None, Field(max_length=MOST_PATTERNS)]
    expected_lanes: _ExpectedLanes
    result_properties: _ResultProperties


def _point_to_fields(settings: Any) -> Any:
    """Return settings; raise ValueError with the address of fields of the project, which are no setting of ours."""
    if isinstance(settings, dict) and "fields" in settings:
        raise ValueError("Define fields of the project by PUT /api/v1/projects/KEY/fields")
    return settings


class ProjectChange(TypedDict, total=False):
    """A JSON merge patch of a project: what is not sent stays."""

    __pydantic_config__ = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"archived": True}]})  # type: ignore[misc]

    name: Name
    description: Description
    visibility: Visibility
    archived: StrictBool
    settings: Annotated[SettingsChange, BeforeValidator(_point_to_fields)]


class Deletion(BaseModel):
    """What is deleted. After `restorable_until` all services remove what they keep of it, which takes a while."""

    key: Annotated[str, Field(examples=["DOOR"])]
    restorable_until: Annotated[datetime, Field(examples=["2026-03-09T08:15:00.123456Z"])]


_MEMBER: JsonDict = {
    "user_id": 7,
    "email": "kim@example.com",
    "full_name": "Kim Person",
    "is_active": True,
    "role": "reviewer",
    "since": "2026-03-02T08:15:00.123456Z",
}


class Member(BaseModel):
    """A member of a project."""

    model_config = ConfigDict(json_schema_extra={"examples": [_MEMBER]})

    user_id: int
    email: str
    full_name: str
    is_active: bool
    role: Role
    since: datetime


class ListedMember(Tagged, Member):
    """A member as a row of a list."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**_MEMBER, **TAGGED_EXAMPLE}]})


class MemberWrite(BaseModel):
    """The role of a member."""

    model_config = ConfigDict(extra="forbid")

    role: Annotated[Role, Field(examples=["reviewer"])]


def settings_of(stored: dict[str, Any]) -> dict[str, Any]:
    """Return settings as they are shown, whichever of them were stored."""
    return ProjectSettings.model_validate(stored).model_dump(mode="json")
