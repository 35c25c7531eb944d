"""The fields of an item by the model of the API, for the many rows of a file.

What many of them have alike, such as a priority or a module, is checked once for all of them.
"""

from collections.abc import Mapping
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from chassis.core.problems import Invalid
from chassis.web import strict_json

JSON_FIELDS = ("custom_metadata", "steps", "test_data")
_SHARED = ("type", "priority", "status", "automation_status", "module", "tags", "source_system", "created_by")
"""Fields that have few values in a file."""
_MOST_KNOWN = 1000
_LONGEST_KNOWN = 1000
"""Bytes; what is longer is not likely to come again."""
_NUL = b"\\u0000"


class _Part(BaseModel):
    """Some fields of a model whose null ones are left out already."""

    model_config = ConfigDict(extra="ignore", use_enum_values=True, validate_default=True)


class ItemFields:
    """Reads the fields of items of one kind as their model does.

    `most`: members that one object or list of theirs may have.
    """

    def __init__(self, model: type[BaseModel], most: int = strict_json.MAX_MEMBERS) -> None:
        shared = [name for name in _SHARED if name in model.model_fields]
        own = [name for name in model.model_fields if name not in shared]
        self._shared, self._own = _part(model, shared), _part(model, own)
        self._shared_names = shared
        self._most = most
        self._known: dict[bytes, dict[str, Any]] = {}

    def read(self, sent: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the fields as they are stored; None where anything is wrong with them, or cannot be stored.

        What is wrong, the model itself says. `sent` has no null; its values may be of any type.
        """
        try:
            read = dict(self._own.model_validate(sent).__dict__)
            if _NUL in orjson.dumps(read):
                return None
            for name in JSON_FIELDS:
                if read.get(name) is not None:
                    strict_json.check(read[name], most=self._most)
            # With their names: a number that is none is null in JSON, and not the same as nothing.
            key = orjson.dumps({name: sent[name] for name in self._shared_names if name in sent})
            known = self._known.get(key)
            read.update(self._read_shared(key, sent) if known is None else known)
        except (ValidationError, Invalid, TypeError):
            return None
        return read

    def _read_shared(self, key: bytes, sent: Mapping[str, Any]) -> dict[str, Any]:
        read = self._shared.model_validate(sent).__dict__
        strict_json.check(read, most=self._most)
        if len(key) <= _LONGEST_KNOWN:
            if len(self._known) == _MOST_KNOWN:
                self._known.clear()
            self._known[key] = read
        return read


def _part(model: type[BaseModel], names: list[str]) -> type[BaseModel]:
    fields: dict[str, Any] = {name: (model.model_fields[name].annotation, model.model_fields[name]) for name in names}
    return create_model(model.__name__, __base__=_Part, **fields)
