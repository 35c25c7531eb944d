"""The map of a provider's groups to roles and memberships (OIDC_GROUPS)."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from chassis.core.identity import Role
from contracts.projects import KEY

EVERYBODY = "*"
"""Stands in the map for a group that everybody is in."""


def _project_key(text: str) -> str:
    if not KEY.fullmatch(text):
        raise ValueError("the key of a project has 2 to 10 of A-Z and 0-9, and begins with a letter")
    return text


_ProjectKey = Annotated[str, AfterValidator(_project_key)]
_RANK = {role: rank for rank, role in enumerate((Role.VIEWER, Role.REVIEWER, Role.ADMIN))}


class Grant(BaseModel):
    """What a group gives: the role of the account, and roles in projects by their keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Role = Role.VIEWER
    projects: dict[_ProjectKey, Role] = {}


def _parsed(value: object) -> object:
    if not isinstance(value, str):
        return value
    if not value.strip():
        return {}
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError('it must be a JSON object such as {"testers": {"role": "reviewer"}}') from None


GroupMap = Annotated[dict[str, Grant], BeforeValidator(_parsed)]


@dataclass(frozen=True, slots=True)
class Groups:
    """Reads what somebody may from the claim that names their groups."""

    claim: str
    """Steps into an object with dots between, `realm_access.roles`, where there is no claim of the whole name."""
    grants: Mapping[str, Grant]

    def of(self, claims: Mapping[str, Any]) -> Grant | None:
        """Return the most of what the groups of somebody give; None when they are in none that is in the map."""
        named = {*_texts(_at(claims, self.claim)), EVERYBODY}
        given = [grant for group, grant in self.grants.items() if group in named]
        if not given:
            return None
        projects: dict[str, Role] = {}
        for grant in given:
            for key, role in grant.projects.items():
                projects[key] = _highest([role, projects.get(key, role)])
        return Grant(role=_highest(grant.role for grant in given), projects=projects)

    @property
    def projects(self) -> frozenset[str]:
        """The keys of the projects of which the map says who is a member."""
        return frozenset(key for grant in self.grants.values() for key in grant.projects)


def _highest(roles: Iterable[Role]) -> Role:
    return max(roles, key=_RANK.__getitem__)


def _at(claims: Mapping[str, Any], name: str) -> object:
    if name in claims:
        return claims[name]
    place: object = claims
    for step in name.split("."):
        place = place.get(step) if isinstance(place, dict) else None
    return place


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
