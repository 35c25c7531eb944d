"""Which part of the record an export is of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar

from catalog_service.exchange.formats import Kinds
from catalog_service.exchange.writing.schemas import ExportQuery, Profile
from catalog_service.fields import repository as project_fields
from catalog_service.fields.definitions import NONE, Fields
from catalog_service.items.filters import ItemFilters
from catalog_service.items.kinds import KINDS, REQUIREMENT, TEST_CASE, ItemKind
from catalog_service.items.service import conditions_of
from catalog_service.requirements.endpoints import RequirementsQuery
from catalog_service.test_cases.endpoints import TestCasesQuery
from catalog_service.verdicts import Basis, Verdict
from chassis.core.problems import FieldError, Invalid
from chassis.db.database import Connection
from chassis.web.conditions import Conditions
from chassis.web.listing import PageQuery
from chassis.web.parameters import parse_choice

_OF_KIND: dict[str, type[ItemFilters]] = {REQUIREMENT.name: RequirementsQuery, TEST_CASE.name: TestCasesQuery}
_OWN_FILTERS = {
    name: frozenset(filters.model_fields) - frozenset(ItemFilters.model_fields) for name, filters in _OF_KIND.items()
}
"""The filters that only the list of one kind has."""
NOT_OF_EXPORTS = frozenset({"expand", "sort"} | PageQuery.model_fields.keys())


@dataclass(frozen=True, slots=True)
class Scope:
    """The items and links of an export.

    `conditions` of each kind of item are over its table. `links` are those between items that fulfil them.
    """

    items: tuple[ItemKind, ...]
    links: bool
    profile: Profile
    conditions: Mapping[str, Conditions]
    fields: Fields = NONE
    """Those of the project, which tables have columns of."""

    @property
    def is_native(self) -> bool:
        """Whether ids, versions and times are part of it."""
        return self.profile is Profile.NATIVE


@dataclass(frozen=True, slots=True)
class About:
    """What an export says of itself; `counts` is a kind of record in the plural with how many there are.

    `columns` are the fields of each kind, where its rows are cells; `schemas` what imports of ReqIF have left, oldest
    first, and `levels` those of the project from the top, where the form has a place for that.
    """

    instance: str
    exported_at: datetime
    record_position: int
    profile: Profile
    counts: Mapping[str, int]
    columns: Mapping[str, Sequence[str]]
    schemas: Sequence[Mapping[str, Any]]
    levels: Sequence[Mapping[str, Any]] = ()

    @property
    def head(self) -> dict[str, Any]:
        """The same as it stands in a file."""
        return {
            "instance": self.instance,
            "exported_at": f"{self.exported_at:%Y-%m-%dT%H:%M:%S.%fZ}",
            "record_position": self.record_position,
            "profile": self.profile,
            "counts": self.counts,
        }


def filters_of(query: ExportQuery) -> dict[str, ItemFilters]:
    """Return the filters of each kind of item; raise Invalid for one that the other kind has alone."""
    given = query.model_dump(include=set(ItemFilters.model_fields) - NOT_OF_EXPORTS, exclude_none=True)
    wanted = _items(query.kind)
    refused = [
        FieldError(f"/query/{name}", f"Only {kind.label}s have this filter: leave it out, or kind.", "contradiction")
        for kind in KINDS
        if kind not in wanted
        for name in sorted(_OWN_FILTERS[kind.name])
        if getattr(query, name) is not None
    ]
    if refused:
        raise Invalid.fields(refused)
    filters: dict[str, ItemFilters] = {}
    for kind in KINDS:
        own = {name: getattr(query, name) for name in _OWN_FILTERS[kind.name]}
        if query.kind in {Kinds.REQUIREMENTS, Kinds.TEST_CASES}:
            filters[kind.name] = _OF_KIND[kind.name](**given, **own)
        else:
            filters[kind.name] = _OfEither[kind.name](**given, **own)
    for kind in wanted:
        filters[kind.name].conditions()
        parse_choice("verdict", query.verdict, filters[kind.name].verdicts)
    parse_choice("rolled_verdict", query.rolled_verdict, Verdict)
    return filters


def _items(kind: Kinds) -> tuple[ItemKind, ...]:
    if kind is Kinds.REQUIREMENTS:
        return (REQUIREMENT,)
    return (TEST_CASE,) if kind is Kinds.TEST_CASES else KINDS


class _Requirements(RequirementsQuery):
    of_either: ClassVar[bool] = True
    types: ClassVar[type[StrEnum]] = ExportQuery.types
    statuses: ClassVar[type[StrEnum]] = ExportQuery.statuses
    verdicts: ClassVar[type[StrEnum]] = ExportQuery.verdicts


class _TestCases(TestCasesQuery):
    of_either: ClassVar[bool] = True
    types: ClassVar[type[StrEnum]] = ExportQuery.types
    statuses: ClassVar[type[StrEnum]] = ExportQuery.statuses
    verdicts: ClassVar[type[StrEnum]] = ExportQuery.verdicts


_OfEither: dict[str, type[ItemFilters]] = {REQUIREMENT.name: _Requirements, TEST_CASE.name: _TestCases}
"""Where both kinds are asked for, a type, status or verdict that only one of them has finds nothing of the other."""


async def scope_of(
    connection: Connection, query: ExportQuery, filters: Mapping[str, ItemFilters], basis: Basis
) -> Scope:
    """Return what a query asks for; `filters` are those of `filters_of`."""
    items = _items(query.kind)
    conditions = {kind.name: await conditions_of(connection, filters[kind.name], basis, kind) for kind in items}
    links = query.kind is Kinds.LINKS or (query.kind is Kinds.ALL and query.links)
    own = await project_fields.of(connection)
    return Scope(() if query.kind is Kinds.LINKS else items, links, query.profile, conditions, own)
