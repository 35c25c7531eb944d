"""What a file of our own says before and after its records, and how it is checked."""

import hashlib
from collections.abc import Mapping
from typing import Any

from catalog_service.exchange.records import Unreadable

MARK = "traceline_exchange"
VERSION = 1
PROFILE = "profile"
SCHEMA = "schema"
LEVEL = "level"
SECTIONS = {
    LEVEL: "levels",
    "requirement": "requirements",
    "test_case": "test_cases",
    "link": "links",
    "relation": "relations",
    "revision": "revisions",
    "reference": "references",
    SCHEMA: "schemas",
}
"""The kinds of records, in the order in which they stand in a file, each with the name under which it is counted."""
LISTS = tuple(section for kind, section in SECTIONS.items() if kind not in {LEVEL, "relation", "reference", SCHEMA})
"""Those that are looked for in the documents of others."""
END = "end"


def is_head(entry: object) -> bool:
    """Check whether an object is the beginning of a file of our own."""
    return isinstance(entry, dict) and MARK in entry


def check_head(head: Mapping[str, Any]) -> None:
    """Raise Unreadable for a file of a version that this installation does not know."""
    if head[MARK] != VERSION:
        raise Unreadable(
            f"The file is of version {str(head[MARK])[:20]} of our format; this installation reads version {VERSION}."
            " Import it into a newer installation, or export it again with profile=plain as csv or xlsx.",
            code="unknown_version",
            line=1,
        )


class Count:
    """Counts and hashes what a file holds, to compare it with what its end says."""

    def __init__(self) -> None:
        self.records = dict.fromkeys(SECTIONS.values(), 0)
        self.sha256 = hashlib.sha256()

    def check(self, end: object, *, line: int | None = None) -> None:
        """Raise Unreadable where the end is not that of these records."""
        said = end if isinstance(end, dict) else {}
        if not isinstance(said.get("sha256"), str) or not isinstance(said.get("counts"), dict):
            raise Unreadable(f"{_CUT_OFF} Its end has no counts and sha256.", code="cut_off", line=line)
        for name, count in self.records.items():
            if said["counts"].get(name, 0) != count:
                raise Unreadable(
                    f"The file says that it holds {str(said['counts'].get(name, 0))[:20]} {name.replace('_', ' ')},"
                    f" and holds {count}. Export it again.",
                    line=line,
                )
        if said["sha256"] != self.sha256.hexdigest():
            raise Unreadable(
                "The file has been changed since it was exported: its sha256 is another than its end says."
                " Export it again; to import a file that was edited, take away its first and its last line.",
                code="wrong_sha256",
                line=line,
            )


_CUT_OFF = "The file is cut off."


def cut_off(*, line: int | None = None) -> Unreadable:
    """Return the problem of a file without its end."""
    return Unreadable(
        f"{_CUT_OFF} The end that each export has is missing; export or download it again.", code="cut_off", line=line
    )
