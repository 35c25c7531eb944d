"""Where on a machine a report was made: absolute paths of files are told from there, the same on each machine.

A path is told from the workspace that CI systems have, else from above the first folder that sources or tests usually
lie in, else from the folder that all files of the report lie in.
"""

import re
from collections.abc import Iterable
from typing import BinaryIO

_ABSOLUTE = re.compile(r"(?:file://)?(?:/|[A-Za-z]:[/\\])")
_NAME = r"[^/]+"
_WORKSPACES = re.compile(
    "|".join(
        f"(?:{where})/"
        for where in (
            f"/(?:home|Users)/runner/work/{_NAME}/{_NAME}",  # GitHub Actions
            f"/__w/{_NAME}/{_NAME}",
            "/github/workspace",
            rf"[A-Za-z]:/a/\d+/s|[A-Za-z]:/a/{_NAME}/{_NAME}",  # Azure Pipelines, GitHub Actions
            rf"(?:/{_NAME})*/_?work/\d+/s",
            f"(?:/{_NAME})*/_work/{_NAME}/{_NAME}",
            f"/builds/{_NAME}/{_NAME}",  # GitLab
            f"(?:[A-Za-z]:)?(?:/{_NAME})*/workspace/{_NAME}",  # Jenkins
            "/home/circleci/project|/root/project|/root/repo",
            "/opt/atlassian/pipelines/agent/build",
            f"(?:/{_NAME})*/buildkite-agent/builds/{_NAME}/{_NAME}/{_NAME}",
            f"/home/travis/build/{_NAME}/{_NAME}",
            "/drone/src|/bitrise/src|/workspace|/usr/src/app|/app",
        )
    )
)
_HOME = re.compile(rf"(?:[A-Za-z]:)?/(?:home|Users)/{_NAME}/")
_OF_SOURCES = frozenset(
    {
        *("src", "test", "tests", "__tests__", "spec", "specs", "e2e", "unit", "integration", "cypress", "features"),
        *("packages", "apps", "libs", "lib"),
    }
)
_BLOCK = 1 << 20
_LONGEST = 4096
"""Bytes of one path with what stands before it."""
_MOST_ESCAPES = re.compile(rb"\\(?:\\|/)")


def is_absolute(path: str) -> bool:
    """Check whether a path is told from the root of a machine."""
    return _ABSOLUTE.match(path) is not None


def find_workspace(paths: Iterable[str], said: str = "") -> str:
    """Return the folder that absolute paths of one report are told from, with a slash at its end; empty for none.

    `said`: what the sender says it is; it counts where all of them lie in it.
    """
    folders = {plain.rpartition("/")[0] + "/" for path in paths if is_absolute(plain := _slashed(path))}
    if not folders:
        return ""
    # Texts that stand between two have all that these have in common.
    first, last = min(folders), max(folders)
    alike = next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    common = first[: first.rfind("/", 0, alike) + 1]
    own = f"{_slashed(said).rstrip('/')}/"
    if said and common.startswith(own):
        return own
    known = _WORKSPACES.match(common)
    if known is not None:
        return known[0]
    home = _HOME.match(common)
    start = home.end() if home is not None else common.find("/") + 1
    at = start
    for name in common[start:].split("/"):
        if name in _OF_SOURCES:
            return common[:at]
        at += len(name) + 1
    return common


def find_known_workspace(path: str) -> str:
    """Return the workspace of a CI system that a path lies in, with a slash at its end; empty for none."""
    known = _WORKSPACES.match(_slashed(path))
    return known[0] if known is not None else ""


def tell_from(workspace: str, path: str) -> str:
    """Return a path as it is told from a workspace, with slashes; as it is where it lies elsewhere."""
    plain = _slashed(path)
    if workspace and plain.startswith(workspace):
        return plain[len(workspace) :]
    return path


def _slashed(path: str) -> str:
    plain = path.replace("\\", "/") if "\\" in path else path
    return plain.removeprefix("file://") if plain.startswith("file://") else plain


def texts_in(file: BinaryIO, pattern: re.Pattern[bytes]) -> set[str]:
    """Return what the group of a pattern finds in a file, from its beginning; the place in the file is kept."""
    start, found, held = file.tell(), set(), b""
    while block := file.read(_BLOCK):
        seen = held + block
        found |= {one for one in pattern.findall(seen) if len(one) < _LONGEST}
        held = seen[-_LONGEST:]
    file.seek(start)
    return {_MOST_ESCAPES.sub(lambda escape: escape[0][1:], one).decode("utf-8", "replace") for one in found}
