"""When a link or a relation is suspect, and why: an item is newer than when it was made or last confirmed."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from catalog_service.fields.definitions import PREFIX
from catalog_service.items.kinds import KINDS, REQUIREMENT, TEST_CASE, ItemKind


class Side(NamedTuple):
    """An item that a link or a relation joins; the names of what is read of it begin with `name`."""

    name: str
    label: str
    kind: ItemKind


SIDES = tuple(Side(kind.name, kind.label, kind) for kind in KINDS)
"""Those of a link."""

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


def suspect_relations(selected: str) -> str:
    """Return the query of `selected`, over `requirement_relations n`, of the suspect relations, each once.

    They are looked for from the requirements that have changed since they were made: an index has these.
    """
    return f"""
        SELECT {selected} FROM requirements r
        JOIN requirement_relations n ON n.child_id = r.id AND r.version > 1 AND r.version > n.child_version
        UNION ALL
        SELECT {selected} FROM requirements r
        JOIN requirement_relations n ON n.parent_id = r.id AND r.version > 1 AND r.version > n.parent_version
        JOIN requirements c ON c.id = n.child_id AND c.version <= n.child_version
    """


def changes(joining: str, item: str, name: str) -> str:
    """Return what `reason` needs of the item `item`, which is the side `name` of the link or relation `joining`."""
    return (
        f"{joining}.{name}_version, {item}.version AS {name}_version_now,"
        f" CASE WHEN {item}.version > {joining}.{name}_version THEN"
        " (SELECT array_agg(DISTINCT field) FROM item_revisions v, unnest(v.changed_fields) field"
        f" WHERE v.item_id = {item}.id AND v.version > {joining}.{name}_version) END AS {name}_changes"
    )


COLUMNS = f"{changes('l', 'r', REQUIREMENT.name)}, {changes('l', 't', TEST_CASE.name)}"
"""What `reason` needs of a link, over the same tables."""


def reason(row: Mapping[str, Any], of: Sequence[Side] = SIDES, label: str = "link") -> dict[str, Any] | None:
    """Return why a link (or what `label` says) is suspect, as the API shows it; None when it is not.

    It is read with the `changes` of its sides.
    """
    sides = {side.name: _newer(row, side) for side in of}
    newer = " and ".join(
        f"the {side.label} went from version {found['from_version']} to {found['to_version']}"
        f" ({', '.join(found['fields'])})"
        for side in of
        if (found := sides[side.name]) is not None
    )
    if not newer:
        return None
    return {"summary": f"T{newer[1:]} after this {label} was made or last confirmed.", **sides}


def _newer(row: Mapping[str, Any], side: Side) -> dict[str, Any] | None:
    then, now = row[f"{side.name}_version"], row[f"{side.name}_version_now"]
    if now <= then:
        return None
    changed = row[f"{side.name}_changes"]
    fields = [field for field in side.kind.meaning if field in changed]
    fields += [field for field in changed if field.startswith(PREFIX)]
    return {"from_version": then, "to_version": now, "fields": fields}
