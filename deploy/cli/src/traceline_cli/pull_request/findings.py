"""What Traceline says of a change: its gate, what fails, what it touches, and verdicts before and after."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from traceline_cli.api import Api, content_of
from traceline_cli.pull_request.change import Change
from traceline_cli.pull_request.places import find_place
from traceline_cli.pull_request.texts import Secrets

Row = dict[str, Any]
_MOST_RUNS = 20
_MOST_FAILURES = 100
_PAGE = 500
_MOST_ROWS = 10_000
"""Of a verdict that is not `passed`; beyond it, what changed is not looked for."""
_OPEN = "failed,flaky,partial,not_run,stale"
_OPEN_TEST_CASES = "failed,flaky,not_run,skipped,stale"
_ID = re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*-\d+(?![A-Za-z0-9])")
_MOST_IDS = 50
_MOST_COMMITS = 200
_MOST_REVISED = 25
_TIME_OF_GIT = 10
_COMMIT = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class Failing:
    """A test that fails, in one environment."""

    name: str
    message: str
    place: tuple[str, int] | None
    test_cases: list[str]
    environment: str | None
    lane: str | None
    run: str


@dataclass(frozen=True, slots=True)
class Altered:
    """An item whose verdict is another one than on the default branch."""

    id: str
    name: str
    title: str
    before: str
    after: str


@dataclass(slots=True)
class Findings:
    """What there is to tell; `compared` False: the change is of the default branch, or too much is open."""

    gate: Row
    runs: list[Row] = field(default_factory=list)
    failing: list[Failing] = field(default_factory=list)
    failing_total: int = 0
    default_branch: str | None = None
    compared: bool = False
    before: dict[str, int] = field(default_factory=dict)
    after: dict[str, int] = field(default_factory=dict)
    requirements: list[Altered] = field(default_factory=list)
    test_cases: list[Altered] = field(default_factory=list)
    named: list[Row] = field(default_factory=list)
    revised: list[Row] = field(default_factory=list)
    revised_total: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """Which results are asked about: `rules` are the parameters of the gate, `policy` the rules of a file."""

    branch: str | None
    commits: tuple[str, ...]
    environment: str | None
    older: bool
    rules: dict[str, Any]
    policy: Any


def find(api: Api, change: Change, question: Question, secrets: Secrets) -> Findings:
    """Ask Traceline; raise Failure when it does not answer, or refuses."""
    return _Asking(api, question, secrets).find(change)


class _Asking:
    def __init__(self, api: Api, question: Question, secrets: Secrets) -> None:
        self._api = api
        self._question = question
        self._secrets = secrets

    def find(self, change: Change) -> Findings:
        runs, commit = self._runs()
        basis = {
            "branch": self._question.branch,
            "commit": commit,
            "environment": self._question.environment,
            "older": "allow" if self._question.older else None,
        }
        found = Findings(self._gate(basis), runs)
        found.failing, found.failing_total = self._failing(runs)
        self._compare(found, basis)
        found.named = self._named(change)
        found.revised, found.revised_total = self._revised(change)
        return found

    def _read(self, path: str, *having: str, **params: Any) -> Row:
        answer: Row = _hidden(content_of(self._api.get(path, **params), *having), self._secrets)
        return answer

    def _runs(self) -> tuple[list[Row], str | None]:
        """Return the runs, the newest first, and the commit that they are of: the first that has one."""
        asked = self._question
        of = {
            "branch": asked.branch and _exactly(asked.branch),
            "environment": asked.environment and _exactly(asked.environment),
        }
        for commit in asked.commits:
            found: list[Row] = self._read("/test-runs", "items", commit=_exactly(commit), limit=_MOST_RUNS, **of)[
                "items"
            ]
            if found:
                return found, commit
        return [], next(iter(asked.commits), None)

    def _gate(self, basis: Row) -> Row:
        asked = self._question
        query = {**basis, **asked.rules, "format": "json"}
        if asked.policy is None:
            response = self._api.get("/reports/gate", **query)
        else:
            response = self._api.post("/reports/gate", params=query, json=asked.policy)
        gate: Row = _hidden(content_of(response, "passed", "branch", "rules", "runs"), self._secrets)
        return gate

    def _failing(self, runs: Sequence[Row]) -> tuple[list[Failing], int]:
        found: dict[tuple[Any, ...], Failing] = {}
        total = 0
        for run in runs:
            page = self._read(
                f"/test-runs/{run['id']}/results", "items", "total", status="failed", limit=_MOST_FAILURES
            )
            total += page["total"]
            for row in page["items"]:
                one = _failing_of(row, run)
                found.setdefault((one.name, one.environment), one)
        rows = [*found.values()][:_MOST_FAILURES]
        return rows, max(total, len(rows))

    def _compare(self, found: Findings, basis: Row) -> None:
        """Set what is otherwise than on the default branch."""
        after = self._read("/reports/verification", "summary", "branch", limit=1, **basis)
        before = self._read("/reports/verification", "summary", "branch", limit=1, environment=basis["environment"])
        found.default_branch = before["branch"]
        if after["branch"] == before["branch"]:
            return
        found.before, found.after = (one["summary"]["requirements"] for one in (before, after))
        base = {"environment": basis["environment"]}
        requirements, test_cases = (
            (self._open(path, verdicts, base), self._open(path, verdicts, basis))
            for path, verdicts in (
                ("/reports/verification", _OPEN),
                ("/reports/test-case-verdicts", _OPEN_TEST_CASES),
            )
        )
        if None in requirements or None in test_cases:
            return
        found.compared = True
        found.requirements = [*_altered(*requirements)]
        found.test_cases = [*_altered(*test_cases)]

    def _open(self, path: str, verdicts: str, basis: Row) -> dict[str, Row] | None:
        """Return what has not passed, by id; None: too much of it."""
        rows: dict[str, Row] = {}
        after: str | None = None
        while True:
            page = self._read(path, "items", "total", verdict=verdicts, limit=_PAGE, after=after, **basis)
            if page["total"] > _MOST_ROWS:
                return None
            rows |= {row["id"]: row for row in page["items"]}
            after = page.get("next_after")
            if after is None or not page["items"]:
                return rows

    def _named(self, change: Change) -> list[Row]:
        """Return requirements and test cases whose ids the branch, the title or a commit names."""
        texts = [change.branch or "", change.title or "", *_messages(change)]
        ids = dict.fromkeys(one.upper() for text in texts for one in _ID.findall(text))
        first = [*ids][:_MOST_IDS]
        if not first:
            return []
        rows: list[Row] = []
        for kind in ("requirements", "test-cases"):
            page = self._read(f"/{kind}", "items", external_id=",".join(map(_exactly, first)), limit=_PAGE)
            rows += [{**row, "kind": kind} for row in page["items"]]
        return rows

    def _revised(self, change: Change) -> tuple[list[Row], int]:
        """Return items that somebody changed in the record since the change began."""
        since = _time_of(change.base)
        if since is None:
            return [], 0
        rows, total = [], 0
        for kind in ("requirements", "test-cases"):
            page = self._read(
                f"/{kind}", "items", "total", updated_since=since, sort="updated_at:desc", limit=_MOST_IDS
            )
            rows += [{**row, "kind": kind} for row in page["items"]]
            total += page["total"]
        return rows, total


def _failing_of(row: Row, run: Row) -> Failing:
    test = row["test"]
    lanes = run.get("lanes") or []
    return Failing(
        name=".".join(filter(None, (test.get("class_name"), test["name"]))),
        message=row["message"] or row["trace"] or "",
        place=find_place(row["trace"] or row["message"] or ""),
        test_cases=[_name(one) for one in row["test_cases"]],
        environment=run.get("environment"),
        lane=lanes[0]["lane"] if len(lanes) == 1 else None,
        run=run["id"],
    )


def _altered(before: dict[str, Row] | None, after: dict[str, Row] | None) -> Iterator[Altered]:
    """Yield what has another verdict now; what is open on one side alone has passed on the other."""
    assert before is not None, "there was not too much of it"
    assert after is not None, "there was not too much of it"
    for one in dict.fromkeys([*after, *before]):
        row = after.get(one) or before[one]
        verdicts = [side[one]["verdict"] if one in side else "passed" for side in (before, after)]
        if verdicts[0] != verdicts[1]:
            yield Altered(one, _name(row), row["title"], *verdicts)


def _name(item: Row) -> str:
    return str(item.get("external_id") or item["title"])


def _hidden(content: Any, secrets: Secrets) -> Any:
    """Return an answer without what is secret in its texts."""
    if isinstance(content, str):
        return secrets.hide(content)
    if isinstance(content, list):
        return [_hidden(one, secrets) for one in content]
    if isinstance(content, dict):
        return {name: _hidden(value, secrets) for name, value in content.items()}
    return content


def _exactly(word: str) -> str:
    """Return a word of a list of alternatives that is this word, whatever its signs are."""
    doubled = word.replace('"', '""')
    return f'"{doubled}"'


def _git(*words: str) -> str | None:
    """Return what Git says of the checkout; None where there is none, or not all of it."""
    with suppress(OSError, subprocess.SubprocessError):
        command = ["git", *words]
        asked = subprocess.run(command, capture_output=True, check=True, timeout=_TIME_OF_GIT)
        return asked.stdout.decode(errors="replace")
    return None


def _messages(change: Change) -> list[str]:
    if change.head is None or not _COMMIT.fullmatch(change.head):
        return []
    since = [f"^{change.base}"] if change.base and _COMMIT.fullmatch(change.base) else []
    how_many = str(_MOST_COMMITS if since else 1)
    said = _git("log", f"--max-count={how_many}", "--format=%B%x00", change.head, *since)
    return said.split("\0") if said else []


def _time_of(commit: str | None) -> str | None:
    if commit is None or not _COMMIT.fullmatch(commit):
        return None
    said = (_git("show", "-s", "--format=%cI", commit) or "").strip()
    return said or None
