"""The types of a file whose format has types of its own, with what their items become and why."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from catalog_service.exchange.formats import kinds_of_types
from catalog_service.exchange.records import Item, Link

_WORDS = {"requirement": "requirements", "test_case": "test cases"}
_LONGEST = 100
_MOST = 100
"""Types that are described; no tool has as many."""


class Types:
    """Counts the items of each type."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()
        self._kinds: dict[str, str] = {}
        self._examples: dict[str, str] = {}

    def add(self, record: Item | Link) -> None:
        """Count an item that has a type."""
        if isinstance(record, Item) and record.of_type and (record.of_type in self.found or len(self.found) < _MOST):
            self.found[record.of_type] += 1
            self._kinds.setdefault(record.of_type, record.kind)
            self._examples.setdefault(record.of_type, str(record.fields.get("title", ""))[:_LONGEST])

    def described(self, mapping: Mapping[str, Any] | None) -> list[dict[str, Any]]:
        """Return each type with its count, an example, what its items become, and why; the most frequent first."""
        said = kinds_of_types(mapping)
        return [
            {
                "sheet": None,
                "type": name,
                "count": count,
                "example": self._examples[name],
                "proposed": f"{self._kinds[name]}s",
                "reason": _reason(self._kinds[name], is_said=name in said),
            }
            for name, count in self.found.most_common()
        ]


def _reason(kind: str, *, is_said: bool) -> str:
    if is_said:
        return "The mapping says so."
    if kind == "test_case":
        return "Its name is one of tests."
    return f"Nothing in its name is of tests, so that its items are {_WORDS[kind]}; types of a mapping says otherwise."
