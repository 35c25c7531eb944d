"""Check the dependencies for known vulnerabilities: `python -m acceptance.vulnerabilities`, part of `make check`.

Where pip-audit and npm audit reach their data, every vulnerability counts that accepted-vulnerabilities.toml does not
accept with a reason. Where one does not, the locks may be no older than 30 days: what is renewed often has few old
vulnerabilities.
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
    *(ROOT / folder / "requirements.lock" for folder in ("deploy/k8s/check", "tests/browser", "gateway/frontend")),
    ROOT / "catalog-service" / "tests" / "executions" / "runners" / "requirements.lock",
    *(ROOT / lock for lock in ("deploy/pip.lock", "deploy/sbom.lock", "deploy/docker/build.lock")),
    *(ROOT / "suggestion-service" / lock for lock in ("compiler.lock", "embeddings.lock")),
]
AUDITED = [LOCK, ROOT / "suggestion-service" / "embeddings.lock", ROOT / "suggestion-service" / "torch.lock"]
PAGE = ROOT / "gateway" / "frontend"
"""Its package-lock.json is made together with its requirements.lock."""
ACCEPTED = ROOT / "accepted-vulnerabilities.toml"
OLDEST = timedelta(days=30)
_MADE = re.compile(r"\A# Made by `make lock` on (\d{4}-\d{2}-\d{2})\.$", re.MULTILINE)
_PIN = re.compile(r"^[\w.-]+==\S+", re.MULTILINE)


class Refused(Exception):
    """Why the check fails: a sentence for the person who reads it."""


def accepted(path: Path) -> dict[str, str]:
    """Return the reason for each accepted vulnerability, by its identifier; raise Refused for one without a reason."""
    vulnerabilities = tomllib.loads(path.read_text())
    for vulnerability, reason in vulnerabilities.items():
        if not isinstance(reason, str) or not reason.strip():
            raise Refused(f"{path.name} accepts {vulnerability} without a reason.")
    return vulnerabilities


def known_vulnerabilities(pins: Sequence[str]) -> dict[str, set[str]] | None:
    """Return the known vulnerabilities of pinned packages, by package; None where no data can be reached."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(pins))
        file.flush()
        command = [sys.executable, "-m", "pip_audit", "--requirement", file.name, "--no-deps", "--disable-pip"]
        options = ["--format", "json", "--progress-spinner", "off"]
        return reported(subprocess.run([*command, *options], capture_output=True, text=True).stdout)


def reported(report: str) -> dict[str, set[str]] | None:
    """Return the names of each vulnerability in pip-audit's report; None unless it looked at every package."""
    try:
        packages = json.loads(report)["dependencies"]
    except ValueError:
        return None
    if any("skip_reason" in package for package in packages):  # a mirror that has packages alone
        return None
    return {
        f"{package['name']} {package['version']}, vulnerability {number}": {found["id"], *found["aliases"]}
        for package in packages
        for number, found in enumerate(package["vulns"], start=1)
    }


def known_to_npm() -> dict[str, set[str]] | None:
    """Return the known vulnerabilities of the page's packages, as `known_vulnerabilities` does of Python's."""
    programs = Path(sys.executable).parent
    command = [str(programs / "node"), str(programs / "npm"), "audit", "--json", "--package-lock-only"]
    command += ["--fetch-retries=0", f"--cache={programs.parent / 'npm-cache'}"]
    return reported_by_npm(subprocess.run(command, cwd=PAGE, capture_output=True, text=True).stdout)


def reported_by_npm(report: str) -> dict[str, set[str]] | None:
    """Return the names of each vulnerability in npm's report; None unless it is one."""
    try:
        packages = json.loads(report)["vulnerabilities"].values()
    except (ValueError, KeyError):
        return None
    advisories = [found for package in packages for found in package["via"] if isinstance(found, dict)]
    return {
        f"{found['name']} {found['range']}, vulnerability {found['source']}": {found["url"].rpartition("/")[2]}
        for found in advisories
    }


def unaccepted(vulnerabilities: dict[str, set[str]], reasons: dict[str, str], *, is_all: bool = True) -> list[str]:
    """Return a complaint for each vulnerability without a reason, and if these are all, for each reason without one."""
    open_ones = [
        f"{vulnerability} is known: {', '.join(sorted(names))}."
        for vulnerability, names in vulnerabilities.items()
        if not names & set(reasons)
    ]
    known = {name for names in vulnerabilities.values() for name in names}
    if not is_all:
        return open_ones
    return open_ones + [f"{name} is accepted, and nothing has it any more." for name in set(reasons) - known]


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
    pins = [pin for lock in AUDITED for pin in _PIN.findall(lock.read_text())]
    # One question shows whether anybody answers; a hundred more would be in vain.
    of_python = known_vulnerabilities(pins) if known_vulnerabilities(pins[:1]) is not None else None
    of_page = known_to_npm()
    if of_python is None or of_page is None:
        oldest = max(age(lock, datetime.now(UTC).date()) for lock in LOCKS)
        by_age = f"locked {oldest.days} days ago ({OLDEST.days} allowed)"
        print(f"Dependencies: no data on vulnerabilities in reach; by age: {by_age}.")
    known = (of_python or {}) | (of_page or {})
    if complaints := unaccepted(known, reasons, is_all=of_python is not None and of_page is not None):
        raise Refused("\n".join(complaints))
    for tool, found in {"pip-audit": of_python, "npm audit": of_page}.items():
        if found is not None:
            print(f"Dependencies: {tool} knows {len(found)} vulnerabilities; {len(reasons)} are accepted in all.")


if __name__ == "__main__":
    try:
        main()
    except Refused as refused:
        sys.exit(str(refused))
