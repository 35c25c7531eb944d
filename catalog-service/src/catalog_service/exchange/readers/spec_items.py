"""Specification items of OpenFastTrace as a file tells them, and what stands between them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from catalog_service.exchange.readers.items import LONGEST_TEXT
from catalog_service.exchange.records import Notice, Unreadable
from chassis.core.wording import counted

_FORWARDED = re.compile(
    r"^[ \t>*+-]*+`?\w++[ \t]*+-->[ \t]*+\w++(?:[ \t]*+,[ \t]*+\w++)*+[ \t]*+:[ \t]*+\w++~[\w.-]++~\d", re.MULTILINE
)


@dataclass(slots=True)
class Outside:
    """How many lines of text are in no item, where the first is, and how many lines hand an item on."""

    path: str | None = None
    lines: int = 0
    first: str = ""
    forwarded: int = 0
    _before: str = ""

    def take(self, line: str, number: int) -> bool:
        """Take a line that is in no item; return whether it is text, which the title of the next item may be."""
        if self.forwards(line):
            return False
        self.lines, self._before = self.lines + 1, self.first
        self.first = self.first or f"line {number}{f' of {self.path}' if self.path else ''}"
        return True

    def forwards(self, line: str) -> bool:
        """Check whether a line hands an item on, and count it."""
        is_forwarding = _FORWARDED.match(line) is not None
        self.forwarded += is_forwarding
        return is_forwarding

    def leave(self) -> None:
        """Leave out the last line: it is a title."""
        self.lines, self.first = self.lines - 1, self._before

    def notices(self) -> Iterator[Notice]:
        """Yield what is to be said of them."""
        if self.lines:
            said = counted(self.lines, "line of text is", "lines of text are")
            yield Notice("text_not_taken", f"{said} in no item, and left out; the first is {self.first}.", self.lines)
        if self.forwarded:
            said = counted(self.forwarded, "line hands", "lines hand")
            message = f"{said} an item on (such as `arch --> dsn : req~open~1`), which is left out."
            yield Notice("forward_not_taken", message, self.forwarded)


@dataclass(slots=True)
class SpecItem:
    """A specification item: its id, the heading above it, its texts by their names, and the lists it has."""

    id: str
    line: int
    title: str
    section: list[str]
    texts: dict[str, list[str]] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    status: str | None = None
    others: dict[str, Any] = field(default_factory=dict)
    size: int = 0

    @property
    def type(self) -> str:
        return self.id.partition("~")[0]

    def add_text(self, name: str, line: str) -> None:
        """Add a line to a text of the item."""
        self.size += len(line) + 1
        if self.size > LONGEST_TEXT:
            raise Unreadable(f"{self.id} has more than {LONGEST_TEXT} characters.", code="too_long", line=self.line)
        self.texts.setdefault(name, []).append(line)

    def text(self, name: str) -> str:
        return "\n".join(self.texts.get(name, ())).strip()
