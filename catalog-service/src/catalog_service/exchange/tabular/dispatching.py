"""Gives the rows of a table to what reads them: rows of two types, or rows that have a requirement and a test."""

from collections.abc import Iterator
from typing import Any

import orjson

from catalog_service.exchange.records import Item, Notice, Record
from catalog_service.exchange.tabular.columns import Columns
from catalog_service.exchange.tabular.kinds import role_of_type
from catalog_service.exchange.tabular.left_out import LeftRows
from catalog_service.exchange.tabular.mapper import Mapper
from catalog_service.exchange.tabular.record_mapping import TypesRule
from catalog_service.exchange.tabular.table import Row
from catalog_service.exchange.tabular.tally import Tally
from catalog_service.exchange.words import fold
from chassis.core.wording import shown

_KINDS = {"requirements": "requirement", "test_cases": "test case"}


class ByType:
    """Gives each row to the reader of its type. A row without one goes on with what the row above it was."""

    def __init__(self, rule: TypesRule, columns: Columns, mappers: dict[str, Mapper], *, is_said: bool) -> None:
        """`mappers` by what their rows become; `is_said`: somebody has said what is left out."""
        self._at = columns.position(rule.column, of="the type of each row")
        self._name = columns.name(self._at)
        self._roles = {fold(value): role for value, role in rule.roles.items()}
        self._mappers = mappers
        self._last = next(iter(mappers.values()))
        self._is_said = is_said
        self._left_out = LeftRows()
        self._tally = Tally()

    def take(self, row: Row) -> Iterator[Record]:
        """Yield the records that are whole with the next row."""
        value = row.cells[self._at].strip() if self._at < len(row.cells) else ""
        if value:
            role = self._roles.get(fold(value)) or role_of_type(value)
            if role == "ignore":
                self._left_out.add(row.number, row.cells)
                return
            if role is None:
                role = next(iter(self._mappers))
                message = (
                    f"Row {row.number} says {shown(value)} in {self._name}, and what rows of that type become is not"
                    f" known: read as one of the {role.replace('_', ' ')}. A mapping says it (types)."
                )
                self._tally.count("type_not_listed", message)
            mapper = self._mappers.get(role, self._last)
            if mapper is not self._last:
                yield from self._last.flush()
            self._last = mapper
        yield from self._last.take(row)

    def finish(self) -> Iterator[Record]:
        """Yield the last records, and what there is to say."""
        for mapper in self._mappers.values():
            yield from mapper.finish()
        why = f", by their type in {self._name}, which is of neither requirements nor test cases"
        yield from self._left_out.notice("types_left_out", why, on_purpose=self._is_said)
        for notice in self._tally.notices():
            notice.unclean = True
            yield notice


class Pairs:
    """Gives each row to what reads its requirement and to what reads its test case, where it has them.

    An item that several rows name is read once: rows that say the same are counted, others are read, and refused.
    """

    def __init__(self, repeated: Mapper, other: Mapper, columns: Columns) -> None:
        """`repeated` reads the items that stand in several rows, `other` those that have a row each."""
        self._repeated = repeated
        self._other = other
        self._columns = columns
        self._seen: dict[str, dict[str, int]] = {}
        self._repeats = 0
        self._fills = sorted(set(other.filled_down) & repeated.positions)
        self._values: dict[int, str] = {}
        self._filled = 0
        self._merged = 0
        self._without_item = LeftRows()

    def take(self, row: Row) -> Iterator[Record]:
        """Yield the records that are whole with the next row."""
        self._fill(row)
        is_of_repeated, is_of_other = self._repeated.tells(row), self._other.tells(row)
        if is_of_repeated:
            for record in self._repeated.take(row):
                yield from self._yield_once(record)
        if is_of_other or not is_of_repeated:
            yield from self._other.take(row)
        elif any(cell.strip() for at, cell in enumerate(row.cells) if at not in self._repeated.positions):
            self._without_item.add(row.number, row.cells)

    def finish(self) -> Iterator[Record]:
        """Yield the last records, and what there is to say."""
        for record in self._repeated.finish():
            if isinstance(record, Item):
                yield from self._yield_once(record)
            elif not isinstance(record, Notice) or record.code not in _OF_ALL_ROWS:
                yield record
        yield from self._other.finish()
        if self._repeats:
            message = (
                f"Rows that name an item again, which a row above them has: {self._repeats}. Each item was read once."
            )
            yield Notice("items_repeated", message, self._repeats)
        if self._merged:
            message = "Merged cells of items that several rows name were read for each row that they cover."
            yield Notice("merged_cells_read", message, self._merged)
        if self._filled:
            names = " and ".join(shown(self._columns.name(at)) for at in self._fills)
            message = (
                f"Blank cells of {names} were read as the cell above them in {self._filled} rows, as it says its values"
                " once for several rows. Without fill_down in the mapping they are read as blank."
            )
            yield Notice("cells_filled_down", message, self._filled)
        why = ", in what they say of a test case beside the requirement, as they name none"
        yield from self._without_item.notice("rows_without_item", why)

    def _fill(self, row: Row) -> None:
        """Put what merged cells and blocks say of the repeated items into a row."""
        cells = row.cells
        width = len(self._columns)
        places = self._repeated.positions
        merged = [(at, text) for at, text in row.merged or () if at in places]
        blanks = [at for at in self._fills if at in self._values and not (at < len(cells) and cells[at].strip())]
        is_new = self._repeated.tells(row) and not merged
        if merged or (blanks and not is_new and self._other.tells(row)):
            filled = [*cells, *[""] * (width - len(cells))]
            for at, text in merged:
                filled[at] = text
                self._merged += 1
            for at in blanks if not merged else ():
                filled[at] = self._values[at]
                self._filled += 1
            row.sent = row.sent or cells
            row.cells = filled
            row.merged = [(at, text) for at, text in row.merged or () if at not in places]
        for at in self._fills:
            if at < len(row.cells) and row.cells[at].strip():
                self._values[at] = row.cells[at]

    def _yield_once(self, record: Record) -> Iterator[Record]:
        key = record.fields.get("external_id") if isinstance(record, Item) and not record.problems else None
        if key is None or not isinstance(record, Item):
            yield record
            return
        look = {name: hash(orjson.dumps(value)) for name, value in record.fields.items() if _says(value)}
        seen = self._seen.setdefault(key, look)
        if seen is not look and all(seen.get(name) == value for name, value in look.items()):
            self._repeats += 1
            return
        yield record


_OF_ALL_ROWS = frozenset({"ragged_rows", "rows_without_item", "rows_below_table"})
"""What both readers would say of the same rows."""


def _says(value: Any) -> bool:
    return value is not None and value != [] and value != ""
