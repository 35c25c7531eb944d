"""What there is to say of the cells of a row."""

from collections.abc import Iterable, Sequence

from catalog_service.exchange.records import Item, Link, Remark
from catalog_service.exchange.tabular.columns import Columns
from catalog_service.exchange.tabular.kinds import says_kind
from catalog_service.exchange.tabular.table import Row
from catalog_service.exchange.tabular.tally import Tally
from chassis.core.wording import shown


def remark_cells(record: Item | Link, row: Row, columns: Columns, id_at: int | None, tally: Tally) -> None:
    """Say of a record what its cells are beside their texts; of an id in the column `id_at`, that it is a number."""
    for at, code, message in row.remarks or ():
        name = columns.name(at)
        record.warnings.append(Remark(code, f"{name}: {message}.", name))
    if id_at is not None and id_at in row.numbers:
        tally.count(
            "numeric_ids",
            f"Row {row.number} has a number as its id, read as {shown(row.cells[id_at])}: what a sheet shows"
            " of it, such as leading zeros, is not in the file.",
        )


def remark_kind(
    row: int, cells: Sequence[str], places: Iterable[int], here: str, columns: Columns, tally: Tally
) -> None:
    """Say where a table of the kind `here` has a row that calls itself one of the other, in one of the columns."""
    there = "requirements" if here == "test_cases" else "test_cases"
    for at in places:
        value = cells[at].strip()
        if says_kind(value, there):
            tally.count(
                "rows_of_other_kind",
                f"Row {row} says {shown(value)} in {columns.name(at)} and is read as one of the {here}, as the whole"
                " table is. Without a mapping both are read; one of version 2 says it, too (types).",
            )
            return
