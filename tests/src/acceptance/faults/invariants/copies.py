"""What services copy of one another equals the original."""

from collections.abc import Iterator, Mapping
from typing import Any, LiteralString

from acceptance.faults.databases import Row, System, query

_ITEM = "id, external_id, title, module, tags, priority, description"

_ITEMS: LiteralString = f"""
    SELECT 'requirement' AS side, {_ITEM}, NULL AS preconditions, NULL AS postconditions FROM requirements
    UNION ALL SELECT 'test_case', {_ITEM}, preconditions, postconditions FROM test_cases
"""
_COPIED_ITEMS: LiteralString = """
    SELECT side, id, external_id, title, module, tags, priority, text->>'description' AS description,
        text->>'preconditions' AS preconditions, text->>'postconditions' AS postconditions
    FROM items WHERE NOT deleted
"""


def violations(system: System) -> Iterator[str]:
    """Every row that one side has and the other has not, or has otherwise."""
    yield from _differences(
        "suggestion's copy of the items", query(system, "catalog", _ITEMS), query(system, "suggestion", _COPIED_ITEMS)
    )
    yield from _differences(
        "suggestion's copy of the links",
        query(system, "catalog", "SELECT id, requirement_id, test_case_id FROM links"),
        query(
            system,
            "suggestion",
            "SELECT link_id AS id, requirement_id, test_case_id FROM linked_pairs WHERE NOT deleted",
        ),
    )
    yield from _differences(
        "notification's copy of the users",
        query(system, "auth", "SELECT id, email, full_name, role, is_active FROM users"),
        query(system, "notification", "SELECT user_id AS id, email, full_name, role, is_active FROM recipients"),
    )
    yield from _coverage(system)


def _coverage(system: System) -> Iterator[str]:
    """The projection that coverage is judged by equals what can be counted."""
    (counted,) = query(
        system,
        "catalog",
        "SELECT (SELECT count(*) FROM requirements) AS total_requirements,"
        " (SELECT count(DISTINCT requirement_id) FROM links) AS covered_requirements",
    )
    (projected,) = query(system, "catalog", "SELECT total_requirements, covered_requirements FROM coverage_state")
    if counted != projected:
        yield f"coverage is judged by {projected}, and counted as {counted}"


def _differences(what: str, originals: list[Row], copies: list[Row]) -> Iterator[str]:
    original = _by_id(originals)
    copy = _by_id(copies)
    for id_ in original.keys() - copy.keys():
        yield f"{what} lacks {original[id_]}"
    for id_ in copy.keys() - original.keys():
        yield f"{what} has {copy[id_]}, which is not there any more, or never was"
    for id_ in original.keys() & copy.keys():
        if original[id_] != copy[id_]:
            yield f"{what} says {copy[id_]} of {original[id_]}"


def _by_id(rows: list[Row]) -> Mapping[Any, Row]:
    return {row["id"]: row for row in rows}
