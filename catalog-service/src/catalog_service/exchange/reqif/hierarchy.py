"""Where objects stand in the specifications of some documents."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from catalog_service.exchange.reqif.collector import Document, Raw


@dataclass(frozen=True, slots=True)
class Place:
    """Where an object stands: `path` are the titles of what it lies under, `position` counts from 1, as in `2.1`."""

    specification: str
    path: list[str]
    position: str

    @property
    def module(self) -> str:
        """The name of the specification, or of the topmost chapter where that has none."""
        return self.specification or (self.path[0] if self.path else "")


class Hierarchy:
    """The trees of all specifications; an object's place is the first one."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._names: list[str] = []
        self._objects: list[str] = []
        self._above: list[int] = []
        self._numbers: list[int] = []
        self._specification: list[int] = []
        self._titles: dict[str, str] = {}
        self.specifications = [one for document in documents for one in document.specifications]
        for number, specification in enumerate(self.specifications):
            self._names.append((specification.get("long_name") or "").strip())
            self._add(number, specification, -1)
        self._first: dict[str, int] = {}
        for node, identifier in enumerate(self._objects):
            self._first.setdefault(identifier, node)

    def name(self, number: int, title: str) -> None:
        """Take the name of a specification that has no LONG-NAME."""
        self._names[number] = self._names[number] or title

    def objects(self) -> set[str]:
        """Return all objects that have a place."""
        return set(self._first)

    def parents(self) -> set[str]:
        """Return the objects that others lie under, whose titles make their paths."""
        return {self._objects[above] for above in self._above if above >= 0}

    def title(self, identifier: str, title: str) -> None:
        """Take the title of one of the `parents`."""
        self._titles[identifier] = title

    def place(self, identifier: str) -> Place | None:
        """Return where an object stands, None when it stands nowhere."""
        node = self._first.get(identifier)
        if node is None:
            return None
        line = list(self._upwards(node))
        path = [self._titles.get(self._objects[above], "") for above in reversed(line[1:])]
        position = ".".join(str(self._numbers[one]) for one in reversed(line))
        return Place(self._names[self._specification[node]], path, position)

    def _upwards(self, node: int) -> Iterator[int]:
        while node >= 0:
            yield node
            node = self._above[node]

    def _add(self, specification: int, parent: Raw, above: int) -> None:
        for number, node in enumerate(parent.get("children", ()), 1):
            self._objects.append(node.get("object", ""))
            self._above.append(above)
            self._numbers.append(number)
            self._specification.append(specification)
            self._add(specification, node, len(self._objects) - 1)
