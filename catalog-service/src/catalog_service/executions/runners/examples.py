"""The examples of this folder, a TOML file a runner."""

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

TEST_CASE = "TC-1"
"""The external id that each example names."""
_HEAD = 64 * 1024


@dataclass(frozen=True, slots=True)
class Example:
    """How a test of a runner names its test case.

    `by` is property, tag or name. `lines` stand in `place`, which `syntax` colours; `setup` is done once, `run` runs
    the tests, and `send` are the files for `traceline results`. `known_by` finds the runner in the beginning of a
    report. `report` is one that has the test of the lines.
    """

    name: str
    label: str
    by: str
    place: str
    syntax: str
    lines: str
    run: str
    send: str
    known_by: str
    report_name: str
    report: str
    setup: str = ""
    also: str = ""


@lru_cache(1)
def examples() -> tuple[Example, ...]:
    """Return all examples, by their labels."""
    found = [
        Example(name=file.name.removesuffix(".toml"), **tomllib.loads(file.read_text(encoding="utf-8")))
        for file in files(__package__).iterdir()
        if file.name.endswith(".toml")
    ]
    return tuple(sorted(found, key=lambda example: example.label.casefold()))


def find_runner(head: bytes) -> Example | None:
    """Return the example of the runner that wrote a report which begins so; None where no example is known by it."""
    text = head[:_HEAD].decode("utf-8", "replace")
    return next((example for example in examples() if re.search(example.known_by, text)), None)
