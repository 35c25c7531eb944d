"""When a link is suspect, and why: an item is newer than when the link was made or last confirmed."""

from collections.abc import Mapping
from typing import Any

from catalog_service.fields.definitions import PREFIX
from catalog_service.items.kinds import KINDS, REQUIREMENT, TEST_CASE, ItemKind

IS_SUSPECT = "(r.version > l.requirement_version OR t.version > l.test_case_version)"
"""Over `links l`, `requirements r` and `test_cases t`."""


def suspect_links(selected: str, where: str = "") -> str:
    """Return the query of `selected`, over `links l` and `requirements r`, of the suspect links under a condition.

    They are looked for from the items that have changed since they were made: an index has these.
    """
    return f"""
        SELECT {selected} FROM requirements r
        JOIN links l ON l.requirement_id = r.id AND r.version > 1 AND r.version > l.requirement_version {where}
        UNION ALL
        SELECT {selected} FROM test_cases t
        JOIN links l ON l.test_case_id = t.id AND t.version > 1 AND t.version > l.test_case_version
        JOIN requirements r ON r.id = l.requirement_id AND r.version <= l.requirement_version {where}
    """


def _changes(item: str, kind: ItemKind) -> str:
    return (
        f"l.{kind.name}_version, {item}.version AS {kind.name}_version_now,"
        f" CASE WHEN {item}.version > l.{kind.name}_version THEN"
        " (SELECT array_agg(DISTINCT field) FROM item_revisions v, unnest(v.changed_fields) field"
        f" WHERE v.item_id = {item}.id AND v.version > l.{kind.name}_version) END AS {kind.name}_changes"
    )


COLUMNS = f"{_changes('r', REQUIREMENT)}, {_changes('t', TEST_CASE)}"
"""What `reason` needs, over the same tables."""


def reason(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return why a link, read with COLUMNS, is suspect, as the API shows it; None when it is not."""
    sides = {kind.name: _newer(row, kind) for kind in KINDS}
    newer = " and ".join(
        f"the {kind.label} went from version {side['from_version']} to {side['to_version']}"
        f" ({', '.join(side['fields'])})"
        for kind in KINDS
        if (side := sides[kind.name]) is not None
    )
    if not newer:
        return None
    return {"summary": f"T{newer[1:]} after this link was made or last confirmed.", **sides}


def _newer(row: Mapping[str, Any], kind: ItemKind) -> dict[str, Any] | None:
    then, now = row[f"{kind.name}_version"], row[f"{kind.name}_version_now"]
    if now <= then:
        return None
    changed = row[f"{kind.name}_changes"]
    fields = [field for field in kind.meaning if field in changed]
    fields += [field for field in changed if field.startswith(PREFIX)]
    return {"from_version": then, "to_version": now, "fields": fields}
