"""Requirements and test cases in CSV files, as people have them outside of Traceline."""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from suggestion_service.engine import ItemText

_NEEDED = ("id", "title", "text")
_TITLE_LENGTH = 80
_LONGEST_FIELD = 2**30


class UnusableFile(Exception):
    """A file that cannot be read as items; says what to do about it."""


@dataclass(frozen=True, slots=True)
class FileItem:
    """One item; `id` is what the file calls it, any text that is no other's."""

    id: str
    text: ItemText
    priority: str | None


def read(path: Path) -> Iterator[FileItem]:
    """Read a CSV file one item at a time: columns id, title and text (or description), in any order.

    Also read where they are there: module, tags (split at commas and semicolons), priority, steps,
    preconditions, postconditions. All others are ignored. An empty text is the title again, an empty title the
    first 80 characters of the text.
    Raises UnusableFile for what is no such file, or holds no item, or an id twice or none.
    """
    seen: set[str] = set()
    for line, row in rows(path):
        item_id = row["id"]
        if not item_id.strip():
            raise UnusableFile(f"{path} has no id in the item that ends in line {line}: give it one.")
        if item_id in seen:
            raise UnusableFile(f"{path} has the id {item_id} twice, again in line {line}: give every item its own.")
        seen.add(item_id)
        yield _item(row)
    if not seen:
        raise UnusableFile(f"{path} has no items: put at least one line below the names of the columns.")


def rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Return (number of its last line, values by column) of each row; `description` is called `text`.

    Raises UnusableFile for what is no CSV with the columns id, title and text.
    """
    csv.field_size_limit(_LONGEST_FIELD)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file, strict=True)
            columns = _columns(path, next(lines, []))
            for row in lines:
                if len(row) > len(columns):
                    raise UnusableFile(
                        f"{path} has {len(row)} values for {len(columns)} columns up to line {lines.line_num}: "
                        "put texts with commas in double quotes."
                    )
                if row:
                    yield lines.line_num, dict.fromkeys(columns, "") | dict(zip(columns, row, strict=False))
    except OSError as error:
        raise UnusableFile(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UnusableFile(f"{path} is not UTF-8: save it as CSV in UTF-8.") from None
    except csv.Error as error:
        raise UnusableFile(f"{path} is not well-formed CSV up to line {lines.line_num}: {error}.") from None


def _columns(path: Path, names: list[str]) -> list[str]:
    columns = [name.strip().lower() for name in names]
    if "text" not in columns:
        columns = ["text" if name == "description" else name for name in columns]
    elif "description" in columns:
        raise UnusableFile(f"{path} has a column text and a column description: leave one of them.")
    if absent := [name for name in _NEEDED if name not in columns]:
        there = ", ".join(names) or "nothing"
        raise UnusableFile(
            f"{path} has no column {absent[0]}: its first line must name the columns id, title, text; it says {there}."
        )
    if twice := [name for name in columns if name and columns.count(name) > 1]:
        raise UnusableFile(f"{path} has the column {twice[0]} twice: leave one of them.")
    return columns


def _item(row: Mapping[str, str]) -> FileItem:
    title, text = row["title"].strip(), row["text"].strip()
    steps = row.get("steps")
    item = ItemText(
        title=title or text[:_TITLE_LENGTH].strip(),
        description=text or title,
        steps={"1": steps} if steps else None,
        preconditions=row.get("preconditions"),
        postconditions=row.get("postconditions"),
        module=row.get("module"),
        tags=[tag for part in re.split("[,;]", row.get("tags", "")) if (tag := part.strip())],
    )
    return FileItem(row["id"], item, row.get("priority"))
