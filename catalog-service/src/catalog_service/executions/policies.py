"""What a gate asks for: rules with their limits, each over a part of the requirements."""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
    model_validator,
)

from catalog_service.executions.rules import SWITCHES, RuleName, checked_limit
from catalog_service.fields.definitions import Fields
from catalog_service.fields.filters import ABOUT_FILTERS, narrow
from catalog_service.items.filters import OF_FIELD, gather_fields
from catalog_service.items.kinds import REQUIREMENT
from catalog_service.requirements.endpoints import RequirementFilters
from chassis.web.conditions import Conditions
from chassis.web.filters import LONGEST_FILTER

_PLAIN = re.compile(r"[\w-]+")
Alternatives = (
    Annotated[str, Field(max_length=LONGEST_FILTER)]
    | Annotated[list[Annotated[str, Field(max_length=500)]], Field(max_length=1000)]
    | None
)


class AcceptedFailures(StrEnum):
    """Whether a rule lets accepted failures pass."""

    DENY = "deny"
    ALLOW = "allow"


class Where(BaseModel):
    """Which requirements a rule is about: as the filters of their list, or with lists of alternatives."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    priority: Alternatives = None
    module: Alternatives = None
    status: Alternatives = None
    type: Alternatives = None
    tag: Alternatives = None
    level: Alternatives = None
    by_field: Annotated[
        dict[str, Alternatives],
        Field(alias=OF_FIELD),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "string", "maxLength": LONGEST_FILTER},
                    {"type": "array", "items": {"type": "string", "maxLength": 500}, "maxItems": 1000},
                    {"type": "null"},
                ],
                "description": ABOUT_FILTERS,
            }
        ),
    ] = Field(default_factory=dict)

    _gather = model_validator(mode="before")(gather_fields)

    def conditions(self, own: Fields) -> Conditions:
        """Return what requirements must fulfil; raises Invalid for an unknown value.

        `own` are the fields of the project, where the filters name some.
        """
        filters = RequirementFilters(**self.given)
        conditions = filters.conditions()
        narrow(conditions, own, REQUIREMENT.name, filters.by_field)
        return conditions

    @model_serializer(mode="wrap")
    def _write_as_sent(self, serialize: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]
        """Write filters over fields of the project beside the others, as they are sent.

        Without the type of what it returns, which would stand for the model in the document.
        """
        written: dict[str, Any] = serialize(self)
        return {**{name: said for name, said in written.items() if name not in {"by_field", OF_FIELD}}, **self.by_field}

    @cached_property
    def given(self) -> dict[str, str]:
        """The filters that are set, as the list of requirements takes them."""
        own = {name: getattr(self, name) for name in type(self).model_fields if name != "by_field"}
        sent = ((name, _filter(said)) for name, said in {**own, **self.by_field}.items())
        return {name: text for name, text in sent if text is not None}

    @cached_property
    def scope(self) -> str:
        """What is the same for all that are set alike."""
        return repr(self.given)


def _filter(value: Alternatives) -> str | None:
    if not isinstance(value, list):
        return value
    return ",".join(one if _PLAIN.fullmatch(one) else '"' + one.replace('"', '""') + '"' for one in value) or None


class Rule(BaseModel):
    """A rule of a gate."""

    model_config = ConfigDict(extra="forbid")

    rule: RuleName
    limit: Annotated[
        float | bool | None,
        Field(description="Percent for min_coverage and min_..._verified, hours for max_run_age_hours, else how many."),
    ] = None
    where: Where = Where()
    accepted: Annotated[
        AcceptedFailures,
        Field(description="allow: what fails for nothing but accepted failures does not count as failed here."),
    ] = AcceptedFailures.DENY

    @model_validator(mode="after")
    def _check(self) -> "Rule":
        self.limit = checked_limit(self.rule, self.limit)
        return self


class StoredWhere(Where):
    """Which requirements a stored rule is about: it may be from before alternatives had bounds."""

    priority: str | list[str] | None = None
    module: str | list[str] | None = None
    status: str | list[str] | None = None
    type: str | list[str] | None = None
    tag: str | list[str] | None = None
    level: str | list[str] | None = None


class StoredRule(Rule):
    """A rule of a gate, as it was stored."""

    where: StoredWhere = StoredWhere()


class _StoredRules(BaseModel):
    rules: list[StoredRule]


class Policy(BaseModel):
    """What a gate asks for."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"rules": [{"rule": "max_failed", "limit": 0, "where": {"priority": ["critical", "high"]}}]}]
        },
    )

    rules: Annotated[list[Rule], Field(max_length=100)] = []
    name: Annotated[str | None, Field(max_length=100)] = None


def rules_of(given: Mapping[str, Any], where: Where, accepted: AcceptedFailures) -> list[Rule]:
    """Return the rules that parameters of a query ask for, all of the same part of the requirements."""
    return [
        Rule(rule=name, limit=given[name], where=where, accepted=accepted)
        for name in RuleName
        if given.get(name) is not None and given[name] is not False
    ]


def stored(rules: Iterable[Mapping[str, Any]]) -> list[Rule]:
    """Return rules that were stored: whatever limit switches have there, they were always judged as true.

    Raises ValidationError.
    """
    given = [{**rule, "limit": None} if rule["rule"] in SWITCHES else rule for rule in rules]
    return [*_StoredRules.model_validate({"rules": given}).rules]


def usual(where: Where, accepted: AcceptedFailures) -> list[Rule]:
    """Return the rules of a gate that asks for none: whole runs, no failure, and no missing test."""
    return [
        Rule(rule=RuleName.REQUIRE_RUN),
        Rule(rule=RuleName.MAX_FAILED, limit=0, where=where, accepted=accepted),
        Rule(rule=RuleName.MAX_MISSING, limit=0, where=where),
    ]
