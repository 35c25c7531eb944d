"""Which fields a type of bodies or answers has, for messages that name them."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel
from typing_extensions import is_typeddict


def fields_at(kind: Any, steps: Sequence[Any]) -> Mapping[str, Any]:
    """Return the types of the fields, by name, of what is in `kind` after these steps; none where it is no object."""
    for step in steps:
        kind = _fields(kind).get(step) if isinstance(step, str) else next(iter(get_args(kind)), None)
    return _fields(kind)


def _fields(kind: Any) -> Mapping[str, Any]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {field.alias or name: field.annotation for name, field in kind.model_fields.items()}
    if is_typeddict(kind):
        return get_type_hints(kind)
    # Of a union, the one that has fields: the other is most often None.
    return next((found for one in get_args(kind) if (found := _fields(one))), {})
