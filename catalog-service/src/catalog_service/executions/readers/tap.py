"""TAP, the Test Anything Protocol, up to version 14: subtests are results, and what stands behind them is one, too."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from catalog_service.exchange.readers.lines import numbered_lines
from catalog_service.exchange.records import Notice, Unreadable
from catalog_service.executions.normal_forms import normalise_by_file
from catalog_service.executions.readers.results import (
    LONGEST_MESSAGE,
    LONGEST_TRACE,
    Found,
    ReadAs,
    Result,
    ResultFormat,
    whole_milliseconds,
)
from chassis.core.wording import counted

_TOLD = re.compile(r"# +(?P<what>tests|pass|fail|cancelled) +(?P<count>\d{1,9})")
"""What tape and node:test say at the end."""
_TOLD_FAILED = re.compile(r"# (?:Looks like you )?failed (\d{1,9})(?: of \d+)? tests?(?: of \d+)?\.?")
"""What node-tap and Test::More of Perl do."""
_TOLD_CRASHED = re.compile(r"# Looks like your test (?:exited with \d+|died) (?:just after|before) .*")
_TOLD_PLAN = re.compile(r"# (?:Looks like you planned \d+ tests? but ran \d+|No tests run!).*")
_POINT = re.compile(r"(?P<not>not )?ok(?=[\s-]|$)(?:[ ]*-?[ ]*)(?P<rest>.*)", re.DOTALL)
_OWN_NUMBER = re.compile(r" *(?:not )?ok +(\d{1,9})(?=[ -]|$)")
_NUMBER = re.compile(r"(?P<number>\d+)(?:[ ]*-[ ]*|[ ]+\+[ ]+|[ ]+|$)")
_DIRECTIVE = re.compile(r"(?:^|(?<=[\s-]))#[ ]*(?P<directive>skip|todo|xfail)\w*(?P<why>.*)", re.IGNORECASE | re.DOTALL)
_PLAN = re.compile(r"1\.\.(\d+)")
_SUBTEST = re.compile(r"# Subtest(?:: ?(?P<name>.*))?")
_KEY = re.compile(r"(?:message|error): *(?P<quote>['\"]?)(?P<text>.*?)(?P=quote)$")
_BLOCK = re.compile(r"[|>][-+]?|")
"""What stands behind a key whose text follows, or whose own keys do."""
_TIME = re.compile(
    r"(?:(?<=[ ])# time=|(?<=[ ])# in (?=\d+ ms)|(?<=[ ]{2})(?=\d+ ms)|(?<=[ ]{2})\()"
    r"(?P<value>\d+(?:\.\d+)?) ?(?P<unit>m?s)\)?$"
)
"""Behind the name, as node-tap, Bats, pg_regress and Criterion write it."""
_LONGEST_TIME = 60
"""Characters at the end of a point in which its time is looked for: in all of a long line it would take minutes."""
_ENDED = re.compile(r"(?<=[ ])# (?P<why>exit=\d+|TIMEOUT\b.*|timeout after .*)$")
"""Behind the name of what failed, as the tests of the Linux kernel and Bats write it."""
_DURATION = re.compile(r"duration_ms: *(?P<value>\d+(?:\.\d+)?)$")
_IS_PLAN = re.compile(r"1\.\.\d+[ ]*(?:#.*)?")
_IS_POINT = re.compile(r"(?:not )?ok\b(?:[ ]*$|[ ]+[-\d#\w])")
_SPACES, _SPACES_OF_KERNEL = 4, 2
"""By which a subtest stands further in than its point, at least."""
_LOOKED_AT = 60
"""Lines from which a file is recognised."""


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is TAP: by its first lines."""
    head = file.read(4096).decode("utf-8", "replace").lstrip("\ufeff")
    if head.startswith(("TAP version ", "KTAP version ")):
        return 0.95
    lines = [line for line in head.splitlines()[:_LOOKED_AT] if line and not line.startswith(("#", "pragma "))]
    known = [bool(_IS_PLAN.fullmatch(line) or _IS_POINT.match(line)) for line in lines]
    if known[:1] == [True]:
        return 0.8
    # What a program prints may stand before: then there is a plan and a point of it.
    is_whole = any(map(_IS_PLAN.fullmatch, lines)) and any(map(_IS_POINT.match, lines))
    return 0.4 * is_whole


def read(file: BinaryIO, as_asked: ReadAs) -> Iterator[Found]:
    """Read the test points."""
    tap = _Tap()
    for number, line in numbered_lines(file):
        yield from tap.take(line, number)
    yield from tap.finish()


@dataclass(slots=True)
class _Level:
    """The points that stand equally far in, one behind the other: how many were planned, came and failed.

    `numbers`: those that the points have had since the last plan.
    """

    planned: int = 0
    points: int = 0
    failed: int = 0
    numbers: set[int] = field(default_factory=set)


class _Tap:
    def __init__(self) -> None:
        self._last: Result | None = None
        self._last_name = ""
        """What its line calls it."""
        self._path: dict[int, str] = {}
        self._spaces = _SPACES
        self._said: tuple[int, str] | None = None
        """A subtest whose name has been said, and where; what follows shows whether that was above it or in it."""
        self._indent = 0
        self._yaml: list[str] | None = None
        self._yaml_indent = 0
        self._is_planned = False
        self._seen = self._points = self._repeated = 0
        self._bailed_out = self._has_died = self._is_told_short = False
        self._levels: dict[int, _Level] = {}
        """By how far in they stand: the tests of the file, and subtests that are open."""
        self._held: list[tuple[int, Result]] = []
        """Points whose subtests stand behind them and are open, and how far in these points stand."""
        self._short = 0
        self._failed = 0
        self._told: Counter[str] = Counter()

    def take(self, line: str, number: int) -> Iterator[Found]:
        """Take a line; yield the point before it once nothing of it can follow."""
        text = line.lstrip(" ")
        indent = len(line) - len(text)
        if self._yaml is not None and self._goes_on(line, text, indent):
            return
        # What stands no further in than its point is no explanation: a program prints lines like this one, too.
        if text.rstrip() == "---" and self._last is not None and indent > self._indent:
            self._yaml, self._yaml_indent = [], indent
            return
        depth = indent // self._spaces
        point = _POINT.match(text)
        if point is not None:
            yield from self._emit()
            self._last, self._indent = self._point(point, depth), indent
            has_failed_within = any(level.failed for at, level in self._levels.items() if at > depth)
            yield from self._release(depth)
            self._close(depth + 1)
            self._count(self._last, depth, line)
            if has_failed_within:
                self._fail(self._last, depth)
            if text.rstrip().endswith(" {"):
                self._held.append((depth, self._last))
        elif subtest := _SUBTEST.match(text):
            self._enter(depth)
            self._said = depth, (subtest["name"] or "").strip()
        elif plan := _PLAN.match(text):
            self._enter(depth)
            yield from self._emit()  # what follows is about all of them
            self._seen += 1
            level = self._levels.setdefault(depth, _Level())
            level.planned += int(plan[1][:9])  # several reports may stand behind one another
            level.numbers.clear()
            self._is_planned = self._is_planned or depth == 0
        elif text.startswith("Bail out!"):
            yield from self._emit()
            self._bailed_out = True
            self._last = Result("Bail out!", status="failed", message=text[9:].strip()[:LONGEST_MESSAGE] or None)
        elif text.startswith(("TAP version", "KTAP version")):
            self._seen += 1
            self._spaces = _SPACES_OF_KERNEL if text.startswith("K") else self._spaces
            self._levels.setdefault(depth, _Level()).numbers.clear()
        elif text == "{" and self._last is not None:
            self._path[depth] = self._last_name
            if not self._is_held(self._last):
                self._held.append((self._indent // self._spaces, self._last))
        elif text == "}" and self._held and self._held[-1][0] == depth:
            yield from self._emit()
            yield from self._release(depth)
        elif indent == 0 and text.startswith("# ") and self._take_end(text.rstrip()):
            pass
        elif text.startswith("#") and self._last is not None:
            self._comment(self._last, text[1:].strip())

    def _count(self, point: Result, depth: int, line: str) -> None:
        level = self._levels.setdefault(depth, _Level())
        self._points += 1
        level.points += 1
        level.failed += point.status == "failed"
        self._failed += point.status == "failed"
        numbered = _OWN_NUMBER.match(line)
        if numbered is not None:
            number = int(numbered[1])
            self._repeated += number in level.numbers
            level.numbers.add(number)

    def _fail(self, point: Result, depth: int) -> None:
        """Fail a point of which a subtest failed, and that says that it passed."""
        if point.status == "passed":
            point.status, point.message = "failed", "A subtest of it failed, and its own line says that it passed."
            self._levels.setdefault(depth, _Level()).failed += 1
            self._failed += 1

    def _release(self, depth: int) -> Iterator[Result]:
        """Yield the points that stand so far in or further whose subtests stood behind them, which are over."""
        while self._held and self._held[-1][0] >= depth:
            at, point = self._held.pop()
            if any(level.failed for within, level in self._levels.items() if within > at):
                self._fail(point, at)
            self._close(at + 1)
            yield point

    def _close(self, depth: int) -> None:
        """Look how subtests have kept their plans that stand so far in or further, which are over."""
        for at in [at for at in self._levels if at >= depth]:
            level = self._levels.pop(at)
            self._short += level.points < level.planned

    def _take_end(self, text: str) -> bool:
        """Take what a runner says of the tests together, if a comment is that."""
        if told := _TOLD.fullmatch(text):
            self._told[told["what"]] += int(told["count"])
        elif told := _TOLD_FAILED.fullmatch(text):
            self._told["fail"] += int(told[1])
        elif _TOLD_CRASHED.fullmatch(text):
            self._has_died = True
        elif _TOLD_PLAN.fullmatch(text):
            self._is_told_short = True
        else:
            return False
        return True

    def _goes_on(self, line: str, text: str, indent: int) -> bool:
        """Take a line of an explanation; it ends by `...`, else at a point or a plan that stands further out."""
        assert self._yaml is not None, "an explanation is open"
        if text.rstrip() == "..." and indent <= self._yaml_indent:
            self._explain()
            return True
        if indent < self._yaml_indent and (_IS_POINT.match(text) or text.startswith(("1..", "Bail out!"))):
            self._explain()
            return False
        if len(self._yaml) < 500:
            self._yaml.append(line[:2000])
        return True

    def _point(self, point: re.Match[str], depth: int) -> Result:
        rest = point["rest"].rstrip()
        # As node-tap writes a subtest that ran beside others: behind its point, in braces.
        opens = rest.endswith(" {")
        rest = rest.removesuffix(" {")
        rest, duration_ms = _without_time(rest)
        directive = _DIRECTIVE.search(rest)
        if directive is not None:
            rest = rest[: directive.start()]
        ended = _ENDED.search(rest) if point["not"] else None
        if ended is not None:
            rest = rest[: ended.start()]
        if duration_ms is None:
            rest, duration_ms = _without_time(rest)
        numbered = _NUMBER.match(rest)
        self._seen += 1
        name = (rest[numbered.end() :] if numbered else rest).strip().removeprefix("-").strip().replace("\\#", "#")
        self._enter(depth, name)
        above = [self._path[level] for level in sorted(self._path) if level < depth]
        name = name or f"test {numbered['number'] if numbered else self._seen}"
        self._last_name = name
        named = normalise_by_file(" > ".join(above), name)
        result = Result(named.name, class_name=named.class_name)
        result.duration_ms = duration_ms
        if directive is not None:
            result.status = "skipped"
            result.message = directive["why"].strip()[:LONGEST_MESSAGE] or None
        elif point["not"]:
            result.status = "failed"
            result.message = ended["why"][:LONGEST_MESSAGE] if ended is not None else None
        for level in [level for level in self._path if level >= depth]:
            del self._path[level]
        if opens:
            self._path[depth] = name
        return result

    def _enter(self, depth: int, name: str | None = None) -> None:
        """Take the name of a subtest, once a line of it shows how far in it stands.

        Most say it where the point of the subtest will be; the Linux kernel and older Perl in the subtest itself.
        """
        if self._said is None:
            return
        level, said = self._said
        is_within = level == depth and said != name and level > 0 and level - 1 not in self._path
        self._path[level - is_within] = said
        self._said = None

    @staticmethod
    def _comment(point: Result, said: str) -> None:
        """Take a comment behind a point: up to version 12, it says why that failed."""
        if point.status == "failed" and point.trace is None and said:
            point.message = f"{point.message}\n{said}"[:LONGEST_MESSAGE] if point.message else said[:LONGEST_MESSAGE]

    def _explain(self) -> None:
        said, self._yaml = self._yaml or [], None
        if self._last is None:
            return
        took = next((found for line in said if (found := _DURATION.match(line.strip()))), None)
        if took is not None:
            self._last.duration_ms = whole_milliseconds(float(took["value"]))
        if self._last.status != "failed":
            return
        self._last.trace = "\n".join(said).strip()[:LONGEST_TRACE] or None
        lines = [line.strip() for line in said]
        for at, line in enumerate(lines):
            key = _KEY.match(line)
            if key is None or self._last.message:
                continue
            text = key["text"]
            if _BLOCK.fullmatch(text):
                text = next(filter(None, lines[at + 1 :]), "") if text else ""
            self._last.message = text[:LONGEST_MESSAGE] or None

    def _is_held(self, point: Result) -> bool:
        return bool(self._held) and self._held[-1][1] is point

    def _emit(self) -> Iterator[Result]:
        if self._last is not None and not self._is_held(self._last):
            yield self._last
        self._last = None

    def finish(self) -> Iterator[Found]:
        """Yield what is left; raise Unreadable for what was no TAP at all."""
        if self._yaml is not None:
            self._explain()
        yield from self._emit()
        yield from self._release(0)
        self._close(1)
        told = self._told["fail"] + self._told["cancelled"]
        if told > self._failed:
            yield Notice("suite_failed", "The end says that more tests failed than those in the file.")
        if self._short:
            detail = (
                "Subtests have fewer points than they planned; one that fails may be among those that did not come."
            )
            yield Notice("plan_not_kept", detail, self._short)
        if not self._seen:
            raise Unreadable("The file has no line of TAP, such as `ok 1 - works`.", line=1)
        if self._bailed_out:
            yield Notice("crashed", "The program gave up (Bail out!): what it had not run yet is not in the file.")
            return
        if self._has_died:
            yield Notice("crashed", "The program ended by an error of its own, as it says at its end.")
        detail = self._tell_plan(max(self._told["tests"], self._told["pass"] + told))
        if detail:
            yield Notice("plan_not_kept", detail)

    def _tell_plan(self, told: int) -> str:
        """Return how the tests of the file are not those that were to run, if so; `told`: how many its end says."""
        tests = self._levels.get(0, _Level())
        if not self._is_planned:
            return "The file has no plan such as 1..12: the program may have ended before its last test."
        if tests.planned != tests.points:
            return f"The plan has {counted(tests.planned, 'test')}, and the file {tests.points}."
        if told > self._points:
            return f"The end says that {counted(told, 'test')} ran, and the file has {self._points}."
        if self._repeated:
            return "Several points of the file have one number: another that was to have it may not have come."
        return "The program says that it ran another number of tests than it planned." if self._is_told_short else ""


def _without_time(rest: str) -> tuple[str, int | None]:
    """Return what stands before the time that a point took, and that time in milliseconds where it is there."""
    rest = rest.rstrip()
    time = _TIME.search(rest[-_LONGEST_TIME:]) if rest.endswith(("s", "s)")) else None
    if time is None:
        return rest, None
    duration_ms = whole_milliseconds(float(time["value"]) * (1 if time["unit"] == "ms" else 1000))
    return rest[: -len(time[0])].rstrip(), duration_ms


FORMAT = ResultFormat("tap", "TAP 14", recognise, read)
