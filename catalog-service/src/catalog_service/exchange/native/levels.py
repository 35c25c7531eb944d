"""The levels of a project in a file of our own, a line each, from the top."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from catalog_service.exchange.layout import LEVEL
from catalog_service.exchange.records import Document, Record, Unreadable
from catalog_service.levels.schemas import LevelsWrite

_MEMBERS = ("key", "name", "needs")


def levels_of(lines: Sequence[Mapping[str, Any]]) -> Iterator[Record]:
    """Yield the levels that lines of a file tell, as one document; nothing where there are none. Raises Unreadable."""
    if not lines:
        return
    try:
        levels = [{name: line[name] for name in _MEMBERS if name in line} for line in lines]
        read = LevelsWrite.model_validate({"levels": levels})
    except ValidationError as error:
        raise Unreadable(
            f"The levels of the file are none that a project can have: {error.errors()[0]['msg']}. Export it again."
        ) from None
    yield Document(LEVEL, read.model_dump(mode="json"))
