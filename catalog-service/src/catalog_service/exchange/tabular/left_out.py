"""Rows that are not read, as they are told: which they are, and the first words of some."""

from collections.abc import Iterator, Sequence

from catalog_service.exchange.records import Notice
from chassis.core.wording import listed, shown

_SHOWN_WORDS = 3
_SHOWN_RANGES = 30


def is_note(cells: Sequence[str]) -> bool:
    """Check whether a row says no more than one text."""
    return sum(1 for cell in cells if cell and not cell.isspace()) < 2


class LeftRows:
    """Rows that are not read, of one kind: notes, of one text each, or more."""

    def __init__(self) -> None:
        self._are_notes = True
        self._ranges: list[tuple[int, int]] = []
        self._words: list[str] = []
        self.count = 0

    def add(self, number: int, cells: Sequence[str]) -> None:
        """Add a row."""
        self.count += 1
        self._are_notes = self._are_notes and is_note(cells)
        if self._ranges and number == self._ranges[-1][1] + 1:
            self._ranges[-1] = (self._ranges[-1][0], number)
        elif len(self._ranges) <= _SHOWN_RANGES:
            self._ranges.append((number, number))
        if len(self._words) < _SHOWN_WORDS:
            self._words.append(shown(next(cell.strip() for cell in cells if cell.strip())))

    def notice(self, code: str, why: str, *, on_purpose: bool = False) -> Iterator[Notice]:
        """Yield the notice of the rows, if there are some; `why` goes on after `were left out`.

        A row that is more than a note may be an item, so that the plan is not clean, unless it is left out on purpose.
        """
        if self.count:
            words = listed(self._words, "and") if self.count <= _SHOWN_WORDS else ", ".join(self._words) + ", …"
            were = "was" if self.count == 1 else "were"
            message = f"{self._numbers()} {were} left out{why}: {words}."
            yield Notice(code, message, self.count, unclean=not (self._are_notes or on_purpose))

    def _numbers(self) -> str:
        ranges: list[str] = []
        for first, last in self._ranges[:_SHOWN_RANGES]:
            ranges += [f"{first} to {last}"] if last > first + 1 else map(str, range(first, last + 1))
        more = len(self._ranges) > _SHOWN_RANGES
        return f"{'Row' if self.count == 1 else 'Rows'} {listed([*ranges, 'more'] if more else ranges, 'and')}"
