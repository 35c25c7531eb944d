"""Whether what Traceline stands on has known holes: `python -m acceptance.dependencies`, part of `make check`.

Where pip-audit reaches its data, every hole counts that accepted-holes.toml does not accept with a reason. Where it
does not, the locks may be no older than 90 days: what is renewed often has few old holes.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LOCK = ROOT / "requirements-dev.lock"
"""Holds all of requirements.lock, too, in the same versions."""
LOCKS = [
    ROOT / "requirements.lock",
    LOCK,
    *(ROOT / folder / "requirements.lock" for folder in ("deploy/k8s/check", "tests/browser")),
    *(ROOT / lock for lock in ("deploy/pip.lock", "deploy/docker/build.lock", "suggestion-service/compiler.lock")),
]
ACCEPTED = ROOT / "accepted-holes.toml"
OLDEST = timedelta(days=90)
_MADE = re.compile(r"\A# Made by `make lock` on (\d{4}-\d{2}-\d{2})\.$", re.MULTILINE)
_PIN = re.compile(r"^[\w.-]+==\S+", re.MULTILINE)


class Refused(Exception):
    """Why the check fails: a sentence for the person who reads it."""


def accepted(path: Path) -> dict[str, str]:
    """Read which holes are accepted, and why, by their identifiers; raise Refused for one without a reason."""
    holes = tomllib.loads(path.read_text())
    for hole, reason in holes.items():
        if not isinstance(reason, str) or not reason.strip():
            raise Refused(f"{path.name} accepts {hole} without a reason.")
    return holes


def known_holes(pins: Sequence[str]) -> dict[str, set[str]] | None:
    """Return the known holes of pinned packages, by package; None where no data can be reached."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(pins))
        file.flush()
        command = [sys.executable, "-m", "pip_audit", "--requirement", file.name, "--no-deps", "--disable-pip"]
        options = ["--format", "json", "--progress-spinner", "off"]
        return holes_in(subprocess.run([*command, *options], capture_output=True, text=True).stdout)


def holes_in(report: str) -> dict[str, set[str]] | None:
    """Read the names that each package's holes have from pip-audit's report; None unless it looked at every package."""
    try:
        packages = json.loads(report)["dependencies"]
    except ValueError:
        return None
    if any("skip_reason" in package for package in packages):  # a mirror of packages that has no data on holes
        return None
    return {
        f"{package['name']} {package['version']}, hole {number}": {hole["id"], *hole["aliases"]}
        for package in packages
        for number, hole in enumerate(package["vulns"], start=1)
    }


def unaccepted(holes: dict[str, set[str]], accepted_holes: dict[str, str]) -> list[str]:
    """Return what speaks against `holes`: those that are not accepted, and accepted ones that are none (any more)."""
    open_ones = [
        f"{hole} is known: {', '.join(sorted(names))}."
        for hole, names in holes.items()
        if not names & set(accepted_holes)
    ]
    known = {name for names in holes.values() for name in names}
    return open_ones + [f"{name} is accepted, and nothing has it any more." for name in set(accepted_holes) - known]


def age(lock: Path, today: date) -> timedelta:
    """Return how long ago a lock was made; raise Refused when it does not say, or is older than OLDEST."""
    made = _MADE.match(lock.read_text())
    if made is None:
        raise Refused(f"{os.path.relpath(lock)} does not say when it was made: `make lock` writes it.")
    days = today - date.fromisoformat(made[1])
    if days > OLDEST:
        raise Refused(f"{os.path.relpath(lock)} is {days.days} days old: renew it with `make lock`.")
    return days


def main() -> None:
    """Check, and print which of the two checks it was."""
    reasons = accepted(ACCEPTED)
    pins = _PIN.findall(LOCK.read_text())
    # One question shows whether anybody answers; a hundred more would be in vain.
    holes = known_holes(pins) if known_holes(pins[:1]) is not None else None
    if holes is None:
        oldest = max(age(lock, datetime.now(UTC).date()) for lock in LOCKS)
        print(f"Dependencies: no data on known holes within reach; by age: locked {oldest.days} days ago (90 allowed).")
        return
    if complaints := unaccepted(holes, reasons):
        raise Refused("\n".join(complaints))
    print(f"Dependencies: pip-audit looked at {len(pins)} packages; {len(reasons)} known holes are accepted.")


if __name__ == "__main__":
    try:
        main()
    except Refused as refused:
        sys.exit(str(refused))
