"""The golden messages: each event as it was sent once, kept as files of tests/contract/events.

`catalog.link.created.json` is the first version of an event, `catalog.link.created.2.json` the second. When they are
added, and why they are never changed, is told in chassis/src/contracts/__init__.py.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "contract" / "events"
_NAME = re.compile(r"(?P<wire_name>[a-z_]+\.[a-z_]+\.[a-z_]+)(?:\.(?P<version>[2-9]|[1-9][0-9]+))?\.json")


@dataclass(frozen=True, slots=True)
class Golden:
    """A whole message as it was sent, with every field that its version has filled."""

    wire_name: str
    version: int
    path: Path

    def message(self) -> dict[str, Any]:
        """Return the message anew, to be changed as a test likes."""
        message: dict[str, Any] = json.loads(self.path.read_bytes())
        return message

    def __str__(self) -> str:
        return self.path.stem


def golden_messages(folder: Path = FOLDER) -> list[Golden]:
    """Return all golden messages, by wire name and version; raise ValueError for a file with another name."""
    found = []
    for path in folder.iterdir():
        name = _NAME.fullmatch(path.name)
        if name is None:
            raise ValueError(f"{path.name}: golden messages are named <wire name>.json, <wire name>.2.json and so on.")
        found.append(Golden(name["wire_name"], int(name["version"] or 1), path))
    return sorted(found, key=lambda golden: (golden.wire_name, golden.version))
