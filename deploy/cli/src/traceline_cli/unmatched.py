"""What to do when no test of a report has a test case: who they are, and the lines that name one."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from traceline_cli.api import Api, content_of
from traceline_cli.failures import Failure

_HEAD = 64 * 1024
_MOST_NAMED = 3
_OF_EXAMPLE = ("label", "by", "place", "lines", "setup", "run", "send", "also", "known_by")
_BY = {"property": "a property", "tag": "a tag", "name": "the name of a test"}


def lines_of(api: Api, file: Path, sent: dict[str, Any]) -> list[str]:
    """Return what to say of a file of whose tests none has a test case: three of them, and the lines to paste."""
    names = next((one.get("tests") or [] for one in sent["warnings"] if one["code"] == "unknown_test"), [])
    said = []
    if names:
        more = f" and {sent['tests'] - _MOST_NAMED} more" if sent["tests"] > _MOST_NAMED else ""
        said.append(f"{file}: without a test case are {', '.join(names[:_MOST_NAMED])}{more}.")
    # Where Traceline is older, or busy, what was sent is sent all the same.
    examples: list[dict[str, Any]] = []
    with suppress(Failure):
        examples = content_of(api.get("/automated-tests/runners"), "runners")["runners"]
    example = _find(examples, file)
    where = f"{api.page}/results/connect has this for each runner."
    if example is None:
        return [*said, f"A test names its test case by a property, a tag or its name, such as [TC-1]. {where}"]
    return [*said, *_shown(example), where]


def _find(examples: Sequence[dict[str, Any]], file: Path) -> dict[str, Any] | None:
    with file.open("rb") as stream:
        head = stream.read(_HEAD).decode("utf-8", "replace")
    for example in examples:
        with suppress(re.error):
            if all(name in example for name in _OF_EXAMPLE) and re.search(example["known_by"], head):
                return example
    return None


def _shown(example: dict[str, Any]) -> list[str]:
    before = [f"    once: {example['setup']}"] if example["setup"] else []
    after = [f"    {example['also']}"] if example["also"] else []
    return [
        f"With {example['label']}, {_BY.get(example['by'], example['by'])} names its test case, here TC-1,"
        f" in {example['place']}:",
        "",
        *(f"    {line}" for line in example["lines"].rstrip("\n").split("\n")),
        "",
        *before,
        f"    {example['run']}",
        f"    traceline results {_quoted(example['send'])}",
        *after,
    ]


def _quoted(pattern: str) -> str:
    return f"'{pattern}'" if "*" in pattern else pattern
