"""What the further data of a requirement says of what stands above it, as readers of files keep it there.

Readers make relations by now; these are of imports from before they did, or whose other end came later.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from catalog_service.exchange.related_names import names_above
from catalog_service.exchange.tabular.columns import ids_in, is_id


class Kept(NamedTuple):
    """A relation that is kept: the external id of what stands above, its type and role."""

    parent: str
    relation_type: str = "refines"
    role: str | None = None


_LISTS = {"doorstop": ("links",), "needs": ("links", "parent_needs", "parent_need"), "openfasttrace": ("covers",)}
"""By system: the members that are lists of ids of what stands above."""


def kept_relations(metadata: Mapping[str, Any]) -> Iterator[Kept]:
    """Yield the relations that further data says, each parent once."""
    seen = set()
    for system, said in metadata.items():
        for one in _of_system(system, said) if isinstance(said, Mapping) else ():
            if one.parent and one.parent not in seen:
                seen.add(one.parent)
                yield one


def _of_system(system: str, said: Mapping[str, Any]) -> Iterator[Kept]:
    if system in _LISTS:
        for name in _LISTS[system]:
            yield from map(Kept, _texts(said.get(name)))
    elif system == "strictdoc":
        for relation in said.get("relations") or ():
            if isinstance(relation, Mapping) and relation.get("type") == "Parent":
                yield from (Kept(one, role=_role(relation.get("role"))) for one in _texts([relation.get("value")]))
    elif system != "reqif":
        for name, value in said.items():
            if names_above(name):
                keys = ids_in(value) if isinstance(value, str) else _texts(value)
                if all(map(is_id, keys)):
                    yield from (Kept(key, role=name[:100]) for key in keys)


def _texts(said: Any) -> list[str]:
    values = said if isinstance(said, list) else [said]
    return [one.strip() for one in values if isinstance(one, str) and one.strip()]


def _role(said: Any) -> str | None:
    return said.strip()[:100] or None if isinstance(said, str) else None
