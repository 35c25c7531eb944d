"""What narrows a list of requirements by what is above and below them: by relations that roll up."""

from uuid import UUID

from catalog_service.items.suspicion import suspect_relations
from catalog_service.values import ROLLING_TYPES
from chassis.core.problems import Invalid
from chassis.web.conditions import Conditions

_ROLLS = f"n.relation_type IN {ROLLING_TYPES}"
_HAS = {
    "has_parent": f"EXISTS (SELECT FROM requirement_relations n WHERE n.child_id = requirements.id AND {_ROLLS})",
    "has_children": f"EXISTS (SELECT FROM requirement_relations n WHERE n.parent_id = requirements.id AND {_ROLLS})",
    "relation_suspect": f"id IN ({suspect_relations('unnest(ARRAY[n.child_id, n.parent_id])')})",
}
_PARENT = "SELECT id FROM requirements WHERE external_id = %(below)s OR id = %(below_id)s"
_CHILDREN = f"SELECT n.child_id FROM requirement_relations n WHERE n.parent_id IN ({_PARENT}) AND {_ROLLS}"
_ALL_BELOW = f"""
    WITH RECURSIVE below AS (
        {_CHILDREN}
        UNION
        SELECT n.child_id FROM below JOIN requirement_relations n ON n.parent_id = below.child_id WHERE {_ROLLS}
    ) SELECT child_id FROM below
"""


def narrow(conditions: Conditions, parent: str | None, *, deep: bool | None, **has: bool | None) -> None:
    """Ask for what is below a requirement (an id or external_id), and for what `has` says by the names of _HAS.

    Raises Invalid for `deep` without a parent.
    """
    if parent is not None:
        try:
            below_id = UUID(parent)
        except ValueError:
            below_id = None
        query = _ALL_BELOW if deep else _CHILDREN
        conditions.add(f"id IN ({query})", of="parent", below=parent, below_id=below_id)
    elif deep is not None:
        raise Invalid.field("/query/deep", "deep goes with parent: send whose, or leave it out.", "contradiction")
    for name, wanted in has.items():
        if wanted is not None:
            conditions.add(f"{'' if wanted else 'NOT '}({_HAS[name]})", of=name)
