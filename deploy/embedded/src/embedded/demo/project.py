"""Reads the demo project from the files beside it, which people may edit."""

import json
from dataclasses import dataclass
from importlib import resources
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DemoProject:
    """What is loaded, in the API's own fields; `links` and what follows name items by external_id.

    `amendments` change the description of a requirement after its links were made, which makes them suspect;
    `confirmations` are links that somebody has looked at again since. `runs` are what CI has executed, the first of
    them before the amendments; each attempt is a list of tests, as in CTRF. `history` are runs of the weeks before: of
    which suites of the first run, and which test cases failed there.
    """

    requirements: list[Json]
    test_cases: list[Json]
    links: list[Json]
    amendments: list[Json]
    confirmations: list[Json]
    runs: list[Json]
    history: list[Json]

    @property
    def seal(self) -> Json:
        """The last requirement: it is loaded after everything else, so where it is, nothing is missing."""
        return self.requirements[-1]


def read_project() -> DemoProject:
    """Return the demo project as its files have it."""
    return DemoProject(
        requirements=_read("requirements.json"),
        test_cases=_read("test_cases.json"),
        runs=_read("runs.json"),
        history=_read("history.json"),
        **_read("links.json"),
    )


def _read(name: str) -> Any:
    return json.loads(resources.files(__package__).joinpath(name).read_text("utf-8"))
