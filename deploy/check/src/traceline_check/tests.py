"""What reports say of tests: how each ended, and which test cases it counts for."""

import hashlib
import io
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import orjson

from catalog_service.executions.read import COLUMNS, FAILED, FLAKY, NAMES, PASSED, SKIPPED, Order, Read, read
from chassis.core.wording import counted
from traceline_check.record import Record
from traceline_check.sources import Source

_ESCAPED = re.compile(r"\\(.)")
_UNESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_MOST_NAMED = 20
_NAMES = COLUMNS.replace(" ", "").split(",")
_IDS = ("named", "tagged", "guessed", "requirements", "maybe_requirements")


@dataclass(slots=True)
class _Result:
    fingerprint: str
    name: str
    class_name: str
    iteration: str
    outcome: str
    is_attempt: bool
    message: str | None
    named: list[str]
    tagged: list[str]
    guessed: list[str]
    requirements: list[str]
    maybe_requirements: list[str]
    """What may be requirements, if any are called so."""


@dataclass(slots=True)
class Test:
    """A test of a lane, which is the format of its reports: of several results the worst counts."""

    name: str
    class_name: str
    lane: str
    outcome: str
    message: str | None
    test_cases: set[int] = field(default_factory=set)
    __test__ = False

    @property
    def status(self) -> str:
        """How it ended."""
        return NAMES[self.outcome]


@dataclass(slots=True)
class Tests:
    """All tests of all reports."""

    by_key: dict[tuple[str, str], Test] = field(default_factory=dict)
    results: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("results", *NAMES.values()), 0))
    health: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Why the reports of a lane do not tell the whole."""
    reports: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    __test__ = False

    @property
    def all(self) -> list[Test]:
        """The tests, by class and name."""
        return sorted(self.by_key.values(), key=lambda test: (test.class_name, test.name, test.lane))


def read_tests(sources: list[Source], record: Record, *, last_counts: bool = False) -> Tests:
    """Return the tests of all reports; `last_counts`: what comes several times is tries: the last counts."""
    tests = Tests()
    matching = _Matching(record)
    digests: dict[bytes, str] = {}
    for source in sources:
        content = source.files[0].read_bytes()
        digest = hashlib.sha256(content).digest()
        if digest in digests:
            tests.warnings.append(f"{source.name}: the same as {digests[digest]}, which counts once.")
            continue
        digests[digest] = source.name
        out = io.BytesIO()
        found = read(io.BytesIO(content), out, Order(source.format, source.files[0].name))
        if not isinstance(found, Read):
            line = found.members.get("line")
            tests.unreadable.append(f"{source.name}: {'' if line is None else f'line {line}: '}{found.detail}")
            continue
        tests.reports.append(source.name)
        tests.health[found.format] |= set(found.health)
        for warning in found.warnings:
            if warning["code"] != "no_results":
                tests.warnings.append(f"{source.name}: {warning['message']}")
        _keep(source, _last_attempts(_rows(out.getvalue()), every=last_counts), found.format, tests, matching)
    tests.warnings += matching.told()
    tests.unknown = matching.unknown
    return tests


def _rows(lines: bytes) -> list[_Result]:
    found = []
    for line in lines.decode().split("\n")[:-1]:
        cells = (None if cell == "\\N" else _text(cell) for cell in line.split("\t"))
        row = dict(zip(_NAMES, cells, strict=True))
        ids = {name: orjson.loads(row[name] or "[]") for name in _IDS}
        found.append(
            _Result(
                fingerprint=row["fingerprint"] or "",
                name=row["name"] or "",
                class_name=row["class_name"] or "",
                iteration=row["iteration"] or "",
                outcome=row["outcome"] or SKIPPED,
                is_attempt=row["is_attempt"] == "t",
                message=row["message"],
                **ids,
            )
        )
    return found


def _text(cell: str) -> str:
    return _ESCAPED.sub(lambda sign: _UNESCAPED.get(sign[1], sign[1]), cell) if "\\" in cell else cell


def _last_attempts(results: list[_Result], *, every: bool) -> list[_Result]:
    """Leave of several attempts of a test the last that ran it, flaky where one before it failed."""
    attempts: dict[tuple[str, str], list[_Result]] = defaultdict(list)
    kept = []
    for result in results:
        if every or result.is_attempt:
            attempts[result.fingerprint, result.iteration].append(result)
        else:
            kept.append(result)
    for tries in attempts.values():
        last = next((one for one in reversed(tries) if one.outcome != SKIPPED), tries[-1])
        if last.outcome == PASSED and any(one.outcome in (FLAKY, FAILED) for one in tries):
            last.outcome = FLAKY
        for one in tries:
            last.named += one.named if one is not last else []
        kept.append(last)
    return kept


def _keep(source: Source, results: list[_Result], lane: str, tests: Tests, matching: "_Matching") -> None:
    by_test: dict[str, list[_Result]] = defaultdict(list)
    for result in results:
        by_test[result.fingerprint].append(result)
        tests.results["results"] += 1
        tests.results[NAMES[result.outcome]] += 1
    for fingerprint, of_test in by_test.items():
        worst = max(of_test, key=lambda one: one.outcome)
        first = min(of_test, key=lambda one: one.name)
        test = Test(first.name, first.class_name, lane, worst.outcome, worst.message)
        test.test_cases = matching.find(source, of_test)
        known = tests.by_key.setdefault((fingerprint, lane), test)
        if known is not test:
            if test.outcome > known.outcome:
                known.outcome, known.message = test.outcome, test.message
            # What was said of a test holds until something else is.
            known.test_cases |= test.test_cases


class _Matching:
    """Finds the test cases that results name, as the service does: by property, tag, name, automation id."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._alike: dict[str, set[int]] = defaultdict(set)
        self._automation: dict[str, list[int]] = defaultdict(list)
        self._not_linked: dict[str, None] = {}
        self.unknown: list[str] = []
        self._ambiguous = 0
        for item in record.of_kind("test_case"):
            if item.external_id is not None:
                self._alike[item.external_id.lower()].add(item.number)
            metadata = item.fields.get("custom_metadata") or {}
            if isinstance(automation := metadata.get("automation_id"), str):
                self._automation[automation].append(item.number)

    def find(self, source: Source, results: list[_Result]) -> set[int]:
        """Return the test cases that the results of one test name."""
        found: set[int] = set()
        for word in dict.fromkeys(word for one in results for word in one.named):
            if (number := self._number(word)) is not None:
                found.add(number)
            elif len(alike := self._alike[word.strip("@[]").lower()]) == 1:
                found |= alike
            else:
                self.unknown.append(
                    f"{source.name}: {results[0].name} names the test case {word}, which is in no file."
                )
        if not found:
            found = self._numbers(word for one in results for word in one.guessed)
        found |= self._numbers(word for one in results for word in one.tagged)
        if not found:
            name = ".".join(filter(None, (results[0].class_name, results[0].name)))
            by_automation = self._automation.get(name, [])
            found = {*by_automation} if len(by_automation) == 1 else set()
            self._ambiguous += len(by_automation) > 1
        self._look_at_requirements(source, results, found)
        return found

    def _numbers(self, words: Iterable[str]) -> set[int]:
        return {number for word in words if (number := self._number(word)) is not None}

    def _number(self, word: str) -> int | None:
        item = self._record.by_id.get(("test_case", word)) or self._record.by_id.get(("test_case", word.lower()))
        return None if item is None else item.number

    def _look_at_requirements(self, source: Source, results: list[_Result], found: set[int]) -> None:
        said = {word for one in results for word in one.requirements}
        for word in dict.fromkeys(word for one in results for word in (*one.requirements, *one.maybe_requirements)):
            item = self._record.by_id.get(("requirement", word))
            if item is None and word in said:
                self.unknown.append(
                    f"{source.name}: {results[0].name} names the requirement {word}, which is in no file."
                )
            elif item is not None and not any((item.number, number) in self._record.links for number in found):
                self._not_linked[word] = None

    def told(self) -> list[str]:
        """Return what is to be said of matches."""
        said = []
        if self._not_linked:
            names = ", ".join([*self._not_linked][:_MOST_NAMED])
            said.append(
                f"Results name requirements that their tests are not linked to: {names}. Name the test case in the"
                " test, and link it in the record."
            )
        if self._ambiguous:
            have = counted(self._ambiguous, "test has", "tests have")
            said.append(f"{have} an automation id that several test cases have: it counts for none of them.")
        return said
