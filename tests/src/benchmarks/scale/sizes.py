"""How much is in the record."""

from typing import NamedTuple

from benchmarks.engine.sizes import Size


class Scale(NamedTuple):
    """So many requirements, as many test cases, and so many links between them."""

    items: int
    links: int

    @property
    def size(self) -> Size:
        return Size(self.items, self.items)

    def __str__(self) -> str:
        return f"{self.items:,} requirements, {self.items:,} test cases, {self.links:,} links"


SMALL = Scale(1000, 3000)
FULL = Scale(100_000, 300_000)
