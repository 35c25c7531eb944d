"""The columns of a table: what its header calls them."""

import re
from collections.abc import Iterable, Mapping

from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.tabular.roles import entries_in
from catalog_service.exchange.tabular.table import column_name
from catalog_service.exchange.words import fold
from chassis.core.wording import listed, nearest, shown

_SHOWN_COLUMNS = 20
_ID = re.compile(r"[^\s,;]{1,100}|[^\s,;]*[^\s,;:] [\d.]+")
_BETWEEN_IDS = re.compile(r"[,;|\n]")
_REFERENCE = re.compile(r"\s*\[[A-Z]+:(\d+)\]")
_NUMBER = re.compile(r"\s*\(?\d{1,2}\s*[-–.:)]\s*(?=[^\W\d])|\s*\(\d+(?:[.,]\d+)?\)\s*\Z")


def without_number(value: str) -> str:
    """Return a value without the number by which tools have values in order: `4 - Must Test`, `High (70.0)`."""
    return _NUMBER.sub("", value)


def is_id(text: str) -> bool:
    """Check whether a text can be an id, as `REQ-1`, `42` and `Login 3` can, and a sentence cannot."""
    return _ID.fullmatch(text.strip()) is not None


def ids_in(text: str, split: str | None = None) -> list[str]:
    """Return the ids that a cell names, each once; they stand in lines, and in these between `split` or what is usual.

    codeBeamer writes `[ISSUE:7] - Log in, log out` where it means 7, Polarion `is verified by: LFT-3 - Check`.
    """
    if _REFERENCE.match(text):
        found = _REFERENCE.findall(text)
    elif entries := entries_in(text):
        found = [key for _, key in entries]
    elif split is None:
        found = _BETWEEN_IDS.split(text)
    else:
        found = [line for part in text.split(split) for line in part.split("\n")]
    return list(dict.fromkeys(part.strip() for part in found if part.strip()))


class Columns:
    """The names of the columns by position; several columns may have one name.

    `groups` are what stands above several columns each, in a header of two rows: `Result / Date`.
    """

    def __init__(self, header: Iterable[str], groups: Mapping[int, str] | None = None) -> None:
        self.header = [name.strip("\ufeff \t\r\n\u00a0") for name in header]
        while self.header and not self.header[-1]:
            self.header.pop()
        self._by_name: dict[str, list[int]] = {}
        self._by_look: dict[str, list[int]] = {}
        for position, name in enumerate(self.header):
            if name:
                self._by_name.setdefault(name, []).append(position)
                self._by_look.setdefault(fold(name), []).append(position)
        self.groups = {at: group for at, group in (groups or {}).items() if at < len(self.header) and self.header[at]}
        for position in self.groups:
            whole = self.name(position)
            self._by_name.setdefault(whole, []).append(position)
            self._by_look.setdefault(fold(whole), []).append(position)

    def __len__(self) -> int:
        return len(self.header)

    def name(self, position: int) -> str:
        """Return what a column is called in messages and in custom_metadata."""
        if position < len(self.header) and self.header[position]:
            name, group = self.header[position], self.groups.get(position)
            return name if group is None else f"{group} / {name}"
        return f"column {column_name(position)}"

    def find(self, column: str | int) -> int | None:
        """Return the position of a column from 0, the first of several; None where there is none."""
        if isinstance(column, int):
            return column - 1 if column <= len(self.header) else None
        positions = self.all_named(column)
        return positions[0] if positions else None

    def all_named(self, name: str) -> list[int]:
        """Return the positions of all columns of a name."""
        return self._by_name.get(name.strip()) or self._by_look.get(fold(name)) or []

    def all_of(self, column: str | int) -> list[int]:
        """Return the positions of all columns that a mapping calls so: by a name, or by a position from 1."""
        return [column - 1] if isinstance(column, int) else self.all_named(column)

    def position(self, column: str | int, *, of: str) -> int:
        """Return the position of a column that a mapping names for a field; raise Unreadable where there is none."""
        found = self.find(column)
        if found is None:
            raise self.missing(str(column), of=of)
        return found

    def missing(self, column: str, *, of: str) -> Unreadable:
        """Return the refusal of a mapping that names a column that the file does not have."""
        names = list(dict.fromkeys(filter(None, self.header)))
        near = nearest(column, names)
        there = f"Did you mean {shown(near)}?" if near else f"Its columns are {listed(names[:_SHOWN_COLUMNS], 'and')}."
        return Unreadable(
            f"The mapping takes {of} from the column {shown(column)}, which the file does not have. {there}",
            code="column_not_found",
        )
