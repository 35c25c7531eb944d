"""What an object of a JSON file stands for: a requirement, a test case, a link, a relation or a revision."""

from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.layout import LEVEL, SCHEMA, SECTIONS
from catalog_service.exchange.records import Item, ItemKind, Link, Record, Reference, Relation, Revision, Unreadable
from catalog_service.items.kinds import KINDS, REQUIREMENT, TEST_CASE
from catalog_service.links.fields import COLUMNS as LINK_COLUMNS
from catalog_service.relations.fields import COLUMNS as RELATION_COLUMNS
from catalog_service.relations.fields import VERSIONS as RELATION_VERSIONS
from chassis.core.wording import shown

KIND = "kind"
_COLUMNS = {kind.name: frozenset(kind.columns) for kind in KINDS}
_OF_TEST_CASES = _COLUMNS[TEST_CASE.name] - _COLUMNS[REQUIREMENT.name]
_LINK_FIELDS = (
    *(name for name in LINK_COLUMNS if name not in {"requirement_id", "test_case_id"}),
    "requirement_version",
    "test_case_version",
)
_PLAIN_LINK_FIELDS = ("link_type", "link_source", "confidence_score", "notes", "created_by")
_RELATION_ENDS = ("child", "parent")
_RELATION_FIELDS = (
    *(name for name in RELATION_COLUMNS if name not in {"child_id", "parent_id"}),
    *RELATION_VERSIONS,
)
_PLAIN_RELATION_FIELDS = ("relation_type", "role", "notes", "source", "created_by")
_RELATION_FIELDS_OF_OTHERS = ("relation_type", "role", "notes")
_LINK_FIELDS_OF_OTHERS = ("link_type", "confidence_score", "notes")
_MADE_BY_US = frozenset({"etag", "coverage", "suspect", "suspect_reason", "suggestion_id"})
"""What an answer of the API adds to what is stored."""
_GIVEN_BY_US = frozenset({"id", "version", "created_at", "updated_at", "position"})
_OF_OURS = {KIND, *_MADE_BY_US, *_GIVEN_BY_US}
_OF_LEVELS: Mapping[str, type] = {"level": str, "derived": bool, "rationale": str}
"""What an object of somebody else says of levels where the project has some, and the type of its value."""
_OF_LINKS = {
    *LINK_COLUMNS,
    *_LINK_FIELDS,
    *(f"{end.name}{part}" for end in KINDS for part in ("", "_id", "_external_id")),
}
_OF_RELATIONS = {
    *RELATION_COLUMNS,
    *_RELATION_FIELDS,
    *(f"{end}{part}" for end in _RELATION_ENDS for part in ("", "_id", "_external_id")),
}
_NAMES = {name: kind for kind, section in SECTIONS.items() for name in (kind, section, kind.replace("_", "-"))}
REST = "import"
"""Where in custom_metadata members go that no field takes, unless the source system is named."""


def kind_of(entry: Mapping[str, Any], options: ReadOptions, *, line: int | None, row: int) -> str:
    """Return what a plain object is: what it says, else what the request says, else what its members tell."""
    where = f"Line {line}" if line is not None else f"Object {row}"
    if (said := entry.get(KIND)) is not None:
        if isinstance(said, str) and said.lower() in _NAMES:
            return _NAMES[said.lower()]
        raise Unreadable(
            f"{where} is of the kind {shown(str(said))}; requirement, test_case, link and relation are understood.",
            line=line,
        )
    if options.kind in _NAMES:
        return _NAMES[options.kind]
    if is_link(entry):
        return "link"
    if not _OF_TEST_CASES.isdisjoint(entry):
        return TEST_CASE.name
    raise Unreadable(
        f"{where} does not say whether it is a requirement or a test case. Import with kind=requirements or"
        ' kind=test_cases, or give each object a member "kind".',
        code="kind_missing",
        line=line,
    )


def is_link(entry: Mapping[str, Any]) -> bool:
    """Check whether an object names both ends of a link."""
    return all(
        any(name in entry for name in (end, f"{end}_id", f"{end}_external_id"))
        for end in (REQUIREMENT.name, TEST_CASE.name)
    )


def exported(profile: object, kind: str, entry: dict[str, Any], row: int, line: int | None) -> Record:
    """Return the record of an object of an export, which tells all fields of it; a plain one but those of a restore."""
    if profile == "plain":
        if kind == "link":
            return _named_link(entry, row, line, _PLAIN_LINK_FIELDS)
        if kind == "relation":
            return _named_relation(entry, row, line, _PLAIN_RELATION_FIELDS)
        return plain(kind, entry, row, line, None, _rest(kind, entry))
    if kind == "revision":
        return Revision(row, {name: value for name, value in entry.items() if name != KIND})
    if kind == "reference":
        return Reference(row, {name: value for name, value in entry.items() if name != KIND}, line)
    if kind == "link":
        requirement, test_case = (_end_of_ours(entry, end.name) for end in KINDS)
        return Link(row, requirement, test_case, {name: entry[name] for name in _LINK_FIELDS if name in entry}, line)
    if kind == "relation":
        child, parent = (_end_of_ours(entry, end) for end in _RELATION_ENDS)
        return Relation(row, child, parent, {name: entry[name] for name in _RELATION_FIELDS if name in entry}, line)
    columns = _COLUMNS[kind]
    fields = {name: value for name, value in entry.items() if name in columns}
    return Item(cast(ItemKind, kind), row, fields, line=line, version=_version(entry))


def plain(
    kind: str,
    entry: dict[str, Any],
    row: int,
    line: int | None,
    source_system: str | None,
    rest: Mapping[str, Any],
) -> Record:
    """Return the record of an object that somebody else has written: `rest`, which no field takes, is further data."""
    if kind in ("revision", "reference", SCHEMA, LEVEL):
        raise Unreadable(
            f"{SECTIONS[kind].capitalize()} are read from complete exports only: take this line away.", line=line
        )
    if kind == "link":
        return _named_link(entry, row, line, _LINK_FIELDS_OF_OTHERS)
    if kind == "relation":
        return _named_relation(entry, row, line, _RELATION_FIELDS_OF_OTHERS)
    columns = _COLUMNS[kind] - _GIVEN_BY_US
    fields = {name: value for name, value in entry.items() if name in columns and name not in rest}
    rest = dict(rest)
    version = None
    if _is_uuid(own := entry.get("id")):
        fields["id"], version = own, _version(entry)
    elif own is not None and fields.get("external_id") is None and isinstance(own, str | int):
        fields["external_id"] = str(own)
    elif own is not None:
        rest["id"] = own
    if rest:
        given = fields.get("custom_metadata")
        name = source_system or REST
        metadata = given if isinstance(given, dict) else {}
        under = metadata.get(name)
        fields["custom_metadata"] = {**metadata, name: {**(under if isinstance(under, dict) else {}), **rest}}
    return Item(cast(ItemKind, kind), row, fields, line=line, version=version)


def rest_of(kind: str, entry: Mapping[str, Any], *, has_levels: bool) -> dict[str, Any]:
    """Return the members of an object of somebody else that no field takes, and that are not made by us.

    What others call a section is one where it is a list of titles; what they call a level, where the project has some.
    """
    left = _rest(kind, entry)
    if kind in _COLUMNS:
        left |= {name: entry[name] for name in entry if not _is_ours(name, entry[name], has_levels=has_levels)}
    return left


def _is_ours(name: str, value: Any, *, has_levels: bool) -> bool:
    """Check whether a member, if it is called as a field that only some projects use, says what that field says."""
    if name in _OF_LEVELS:
        return value is None or value is False or (has_levels and isinstance(value, _OF_LEVELS[name]))
    if name == "section":
        return isinstance(value, list) and all(isinstance(title, str) for title in value)
    return True


def _rest(kind: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    known = {"link": _OF_LINKS, "relation": _OF_RELATIONS}.get(kind) or _COLUMNS[kind]
    return {name: value for name, value in entry.items() if name not in known and name not in _OF_OURS}


def _named_link(entry: dict[str, Any], row: int, line: int | None, names: tuple[str, ...]) -> Link:
    requirement, test_case = (_end(entry, kind.name, f"link that names no {kind.label}", row, line) for kind in KINDS)
    fields: dict[str, Any] = {name: entry[name] for name in names if name in entry}
    return Link(row, requirement, test_case, fields, line)


def _named_relation(entry: dict[str, Any], row: int, line: int | None, names: tuple[str, ...]) -> Relation:
    child, parent = (_end(entry, end, f"relation that names no {end}", row, line) for end in _RELATION_ENDS)
    return Relation(row, child, parent, {name: entry[name] for name in names if name in entry}, line)


def _end(entry: Mapping[str, Any], name: str, otherwise: str, row: int, line: int | None) -> dict[str, str]:
    """Return how a link or relation names an item: by the id, the external_id, or whichever of both a text is."""
    named = entry.get(name)
    given = dict(named) if isinstance(named, dict) else {"external_id": named}
    for key in ("external_id", "id"):
        if entry.get(f"{name}_{key}") is not None:
            given[key] = entry[f"{name}_{key}"]
    for key in ("external_id", "id"):
        if isinstance(value := given.get(key), str | int) and str(value).strip():
            return {key: str(value)}
    where = f"Line {line}" if line is not None else f"Object {row}"
    raise Unreadable(f'{where} is a {otherwise}: give it "{name}", an external_id.', line=line)


def _end_of_ours(entry: Mapping[str, Any], name: str) -> dict[str, str]:
    """Return how a link of a native export names one of its items: by the id there, without the items also by name."""
    end = {"id": str(entry.get(f"{name}_id"))}
    if isinstance(external_id := entry.get(f"{name}_external_id"), str):
        end["external_id"] = external_id
    return end


def _is_uuid(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        UUID(value)
    except ValueError:
        return False
    return True


def _version(entry: Mapping[str, Any]) -> int | None:
    version = entry.get("version")
    return version if isinstance(version, int) and not isinstance(version, bool) else None
