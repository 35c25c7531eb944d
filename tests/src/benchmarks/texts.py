"""Seeded texts for load: requirements and test cases of about 40 words, each test case near one requirement."""

import random
from itertools import accumulate
from typing import Any

_VOCABULARY = 3000
_WORDS = 40


class Texts:
    """Makes the same items for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        letters = "abcdefghijklmnopqrstuvwxyz"
        self._vocabulary = [
            "".join(self._random.choices(letters, k=self._random.randint(4, 10))) for _ in range(_VOCABULARY)
        ]
        # Added up once: it is most of what a text costs, and the load generator has the machine with the server.
        self._weights = list(accumulate(1 / rank for rank in range(1, _VOCABULARY + 1)))

    def _words(self, count: int) -> list[str]:
        return self._random.choices(self._vocabulary, cum_weights=self._weights, k=count)

    def requirement(self, number: int, prefix: str) -> dict[str, Any]:
        """Return the body of a POST /requirements."""
        return {
            "external_id": f"{prefix}-{number}",
            "title": " ".join(self._words(8)),
            "description": " ".join(self._words(_WORDS)),
            "type": "functional",
            "priority": self._random.choice(["critical", "high", "medium", "low"]),
            "module": f"module {number % 10}",
            "tags": ["load"],
        }

    def test_case(self, number: int, prefix: str, near: dict[str, Any]) -> dict[str, Any]:
        """Return the body of a POST /test-cases that shares words with the requirement `near`."""
        shared = self._random.sample(near["description"].split(), _WORDS // 2)
        return {
            "external_id": f"{prefix}-{number}",
            "title": f"check {near['title']}",
            "description": " ".join(shared + self._words(_WORDS // 2)),
            "type": "functional",
            "priority": near["priority"],
            "module": near["module"],
            "steps": {"1": " ".join(self._words(10)), "2": " ".join(self._words(10))},
        }
