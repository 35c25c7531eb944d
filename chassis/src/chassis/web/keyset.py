"""Orders of lists and positions in them: a page begins behind a position, whatever comes and goes before it."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID
from zlib import crc32

import orjson

from chassis.core.problems import Invalid
from chassis.core.wording import shown

Values = tuple[Any, ...]
"""A position: what a row has of each column of its order."""

_SQL_TYPES = {datetime: "timestamptz", UUID: "uuid", str: "text", float: "double precision", int: "bigint"}
_POINTER = "/query/after"


@dataclass(frozen=True, slots=True)
class By:
    """A column of an order; rows without a value come last.

    `column` as SQL names it, `kind` the Python type of its values, `expression` what is compared where that is not the
    column itself, `member` the column in the rows that are read where it has another name there.
    """

    column: str
    kind: type
    descending: bool = False
    nullable: bool = False
    expression: str = "{}"
    member: str = ""

    @property
    def sql(self) -> str:
        """What is compared, in SQL."""
        return self.expression.format(self.column)

    @property
    def ordered(self) -> str:
        """The same with its direction, of rows that have a value."""
        return f"{self.sql} {'DESC' if self.descending else 'ASC'}"

    @property
    def name(self) -> str:
        """Its name in the rows that are read."""
        return self.member or self.column.rpartition(".")[2]

    def value(self, parameter: str) -> str:
        """Return what is compared with a parameter that has a row's value."""
        return self.expression.format(f"%({parameter})s::{_SQL_TYPES[self.kind]}")


@dataclass(frozen=True)
class Order:
    """The order of a list, total since its last column is unique; `name` as the API would ask for it."""

    name: str
    columns: tuple[By, ...]

    @cached_property
    def sql(self) -> str:
        """The ORDER BY. An index serves only an order that is spelled as its own: NULLS only where it must be said."""
        return ", ".join(
            f"{by.ordered} NULLS LAST" if by.nullable and by.descending else by.ordered for by in self.columns
        )

    def position(self, row: Mapping[str, Any]) -> Values:
        """Return where a row is."""
        return tuple(row[by.name] for by in self.columns)

    def behind(self, position: Values, prefix: str = "after") -> list[tuple[str, str]]:
        """Return what is behind a position as conditions, in their order, each with the ORDER BY of its rows.

        One condition for all could not be answered from an index where columns differ in their direction. The
        parameters are those of `parameters`.
        """
        found = []
        for place in reversed(range(len(self.columns))):
            by, later = self.columns[place], Order("", self.columns[place + 1 :]).sql
            if position[place] is None:
                continue  # they come last
            same = [
                f"{other.sql} IS NULL" if position[at] is None else f"{other.sql} = {other.value(f'{prefix}_{at}')}"
                for at, other in enumerate(self.columns[:place])
            ]
            beyond = f"{by.sql} {'<' if by.descending else '>'} {by.value(f'{prefix}_{place}')}"
            found.append((" AND ".join([*same, beyond]), f"{by.ordered}, {later}" if later else by.ordered))
            if by.nullable:
                found.append((" AND ".join([*same, f"{by.sql} IS NULL"]), later))
        return found

    def parameters(self, position: Values, prefix: str = "after") -> dict[str, Any]:
        """Return the parameters of `behind`."""
        return {f"{prefix}_{place}": value for place, value in enumerate(position) if value is not None}


def written(position: Values, order: Order, of: str) -> str:
    """Return a position as callers get it: opaque, of one order of one list, whose address is `of`."""
    text = orjson.dumps([order.name, *position], option=orjson.OPT_UTC_Z)
    return _encoded(_sum(text, of) + text)


def read(text: str, order: Order, of: str) -> Values:
    """Return the position that `written` wrote; raise Invalid for one of another order or list, or a damaged one."""
    try:
        raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        name, *values = orjson.loads(raw[4:])
        if _encoded(raw) != text or raw[:4] != _sum(raw[4:], of):
            raise ValueError
        if name == order.name:
            return tuple(_value(by, value) for by, value in zip(order.columns, values, strict=True))
    except (ValueError, TypeError):
        message = f"{shown(text)} is no position in this list: send `next_after` as it was answered, or leave it out."
        raise Invalid.field(_POINTER, message, "malformed_position") from None
    message = (
        f"This position is one in the list sorted by {shown(name)}, not by {order.name}: keep `sort` as it was, or"
        " leave `after` out to begin anew."
    )
    raise Invalid.field(_POINTER, message, "other_sort")


def _encoded(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")


def _sum(text: bytes, of: str) -> bytes:
    return crc32(text, crc32(of.encode())).to_bytes(4)


def _value(by: By, value: Any) -> Any:
    """Return a value of a position as its column has it; raise ValueError for none of its kind."""
    if value is None and by.nullable:
        return None
    if by.kind is float and type(value) is int:
        return float(value)
    if by.kind in (datetime, UUID):
        if not isinstance(value, str):
            raise ValueError
        return UUID(value) if by.kind is UUID else datetime.fromisoformat(value)
    if type(value) is not by.kind:
        raise ValueError
    if (isinstance(value, str) and "\0" in value) or (isinstance(value, int) and abs(value) >= 2**63):
        raise ValueError
    return value
