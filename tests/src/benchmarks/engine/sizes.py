"""How many items are scored against how many."""

from typing import NamedTuple


class Size(NamedTuple):
    """So many requirements and so many test cases."""

    requirements: int
    test_cases: int

    @property
    def items(self) -> int:
        return self.requirements + self.test_cases

    @property
    def pairs(self) -> int:
        return self.requirements * self.test_cases

    def __str__(self) -> str:
        return f"{self.requirements:,} x {self.test_cases:,}"

    @classmethod
    def read(cls, text: str) -> "Size":
        """Read `1000x2000` or `20kx50k`; raise ValueError for anything else."""
        requirements, test_cases = (int(number.replace("k", "000")) for number in text.lower().split("x"))
        if requirements < 1 or test_cases < 1:
            raise ValueError("A side has at least one item.")
        return cls(requirements, test_cases)
