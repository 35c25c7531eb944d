"""What there is to say of many rows of a table."""

from collections import Counter
from collections.abc import Iterator

from catalog_service.exchange.records import Notice


class Tally:
    """Counts by code what there is to say, in the words of the first row that it was said of."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def count(self, code: str, message: str) -> None:
        """Count it once more."""
        self._first.setdefault(code, message)
        self._counts[code] += 1

    def notices(self) -> Iterator[Notice]:
        """Yield a notice for each code, in the order in which they came."""
        for code, count in self._counts.items():
            yield Notice(code, self._first[code], count)
