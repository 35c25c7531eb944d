"""Projects as auth-service keeps them and the gateway decides by them: keys, visibility, who has which role there."""

import re
from enum import StrEnum
from typing import Final

from pydantic import BaseModel, ConfigDict

from chassis.core.identity import Role
from chassis.core.problems import Conflict, NotFound

DEMO: Final = "DEMO"
"""The key of the demo's project."""

KEY = re.compile(r"[A-Z][A-Z0-9]{1,9}")
"""What the key of a project looks like."""


class Visibility(StrEnum):
    """Whom a project lets in: everybody who is signed in, with the role of their account; or its members alone."""

    OPEN = "open"
    MEMBERS = "members"


class Language(StrEnum):
    """A language that texts can be read in, by its code of ISO 639-1."""

    ENGLISH = "en"
    GERMAN = "de"
    FRENCH = "fr"
    SPANISH = "es"
    ITALIAN = "it"
    PORTUGUESE = "pt"
    DUTCH = "nl"
    SWEDISH = "sv"
    DANISH = "da"
    NORWEGIAN = "no"
    FINNISH = "fi"
    RUSSIAN = "ru"
    JAPANESE = "ja"
    CHINESE = "zh"
    KOREAN = "ko"


class GateRule(BaseModel):
    """A rule of a release gate: what it counts, up or down to which limit, and of which items (`where`)."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    rule: str
    limit: float | None = None
    where: dict[str, tuple[str, ...]] = {}
    accepted: str = "deny"


class NamePattern(BaseModel):
    """What in the name of a test says by which external id its test case is known; see `contracts.name_patterns`."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str
    external_id: str


class ExpectedLanes(BaseModel):
    """Lanes that each commit of a branch is to have; of all branches that fit where `*` stands in its name."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    branch: str
    lanes: tuple[str, ...]


class ResultProperties(BaseModel):
    """Properties of results that name test cases and requirements; see `contracts.result_properties`."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    test_cases: tuple[str, ...] | None = None
    requirements: tuple[str, ...] | None = None


class ProjectSettings(BaseModel):
    """What a project wants otherwise than the environment's defaults; None: as those say."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    automatic_suggestions: bool | None = None
    algorithm: str | None = None
    threshold: float | None = None
    language: str | None = None
    coverage_threshold: float | None = None
    gate: tuple[GateRule, ...] | None = None
    name_patterns: tuple[NamePattern, ...] | None = None
    expected_lanes: tuple[ExpectedLanes, ...] | None = None
    result_properties: ResultProperties | None = None


class ProjectState(BaseModel):
    """A project as it is after the event."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    key: str
    name: str
    description: str
    visibility: Visibility
    archived: bool
    settings: ProjectSettings


def role_in(visibility: Visibility, account: Role | None, membership: Role | None) -> Role | None:
    """Return the role that somebody has in a project, by those of their account and of their membership there.

    None: they have no access, and must not see that it exists.
    """
    if account is Role.ADMIN:
        return account
    if visibility is Visibility.MEMBERS:
        return membership
    if account is None or membership is None:
        return account or membership
    return max(account, membership, key=lambda role: role.rank)


def no_such_project(key: str | None = None) -> NotFound:
    """Return the problem of a project that is not there, and of one that the caller has no access to: the same.

    `key` is given where the caller has named several.
    """
    which = "this key" if key is None else f"the key {key}"
    return NotFound(f"There is no project with {which}, or you have no access to it.", code="project_not_found")


def project_archived() -> Conflict:
    """Return the problem of a write into a project that is archived."""
    return Conflict(
        "This project is archived, so nothing in it can be changed; an admin of the project can take it out of the"
        " archive first.",
        code="project_archived",
    )
