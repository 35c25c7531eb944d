"""Where in the tables of a file the fields of its rows stand."""

from collections.abc import Iterable
from typing import Any

from catalog_service.exchange.tabular.table import column_name


class Places:
    """The columns of tables by what they become, or by their names."""

    def __init__(self, columns: Iterable[tuple[str | None, int, dict[str, Any]]]) -> None:
        """`columns`: the sheet of each, its position from 1, and its `name` and `field`."""
        self._by_name: dict[tuple[str | None, str], tuple[int, str]] = {}
        known = list(columns)
        for key in ("field", "name"):
            for sheet, position, column in known:
                if column[key]:
                    self._by_name.setdefault((sheet, column[key]), (position, column["name"]))

    def locate(self, remark: dict[str, Any], *, sheet: str | None, row: int | None) -> dict[str, Any]:
        """Return a problem or a warning of a row with the column that it is about, and its cell."""
        name = remark.get("name")
        known = self._by_name.get((sheet, name)) or self._by_name.get((sheet, name.partition(".")[0])) if name else None
        column, header = known or (None, name)
        cell = None if column is None or row is None else f"{column_name(column - 1)}{row}"
        return {"value": None, **remark, "name": header, "column": column, "cell": cell}
