"""The examples of this folder, a TOML file a runner."""

import re
import sys
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

BEGINS, ENDS = "<!-- runners: made by `make runners` -->\n", "<!-- end of runners -->\n"
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


_BY = {"property": "a property", "tag": "a tag", "name": "its name"}


def as_markdown() -> str:
    """Return all examples as a section of a document."""
    return "\n".join(_section(example) for example in examples())


def _section(example: Example) -> str:
    send = f"'{example.send}'" if "*" in example.send else example.send
    setup = f"`{example.setup}` once; then " if example.setup else ""
    also = f" {example.also}" if example.also else ""
    return (
        f"**{example.label}**, by {_BY[example.by]}, in {example.place}:\n\n"
        f"```{example.syntax}\n{example.lines.rstrip(chr(10))}\n```\n\n"
        f"{setup}`{example.run}` and `traceline results {send}`.{also}\n"
    )


def main() -> None:
    """Write the examples into the document whose path is given, between its marks."""
    document = Path(sys.argv[1])
    before, begins, rest = document.read_text(encoding="utf-8").partition(BEGINS)
    _, ends, after = rest.partition(ENDS)
    if not (begins and ends):
        sys.exit(f"{document} has no {BEGINS.strip()} and {ENDS.strip()}.")
    document.write_text(f"{before}{BEGINS}\n{as_markdown()}\n{ENDS}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
