"""TAP, the Test Anything Protocol, up to version 14: subtests are results, and what stands behind them is one, too."""

import re
from collections.abc import Iterator
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

_TOLD_FAILED = re.compile(r"# +fail +(\d{1,9})|# Looks like you failed (\d{1,9}) tests? of \d+\.?")
"""What tape and node:test say at the end, and Test::More of Perl."""
_POINT = re.compile(r"(?P<not>not )?ok(?=[\s-]|$)(?:[ ]*-?[ ]*)(?P<rest>.*)", re.DOTALL)
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
        self._planned: int | None = None
        self._points = 0
        self._seen = 0
        self._bailed_out = False
        self._subtests: dict[int, tuple[int, int]] = {}
        """By how far in subtests stand that are open: how many points they planned and have."""
        self._short = 0
        self._failed = self._told_failed = 0

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
            self._failed += self._last.status == "failed"
            self._close(depth + 1)
            planned, points = self._subtests.get(depth, (0, 0))
            self._subtests[depth] = planned, points + 1
            if depth == 0:
                self._points += 1
        elif subtest := _SUBTEST.match(text):
            self._enter(depth)
            self._said = depth, (subtest["name"] or "").strip()
        elif plan := _PLAN.match(text):
            self._enter(depth)
            yield from self._emit()  # what follows is about all of them
            self._seen += 1
            if depth == 0:
                # Several reports may stand behind one another.
                self._planned = (self._planned or 0) + int(plan[1][:9])
            else:
                planned, points = self._subtests.get(depth, (0, 0))
                self._subtests[depth] = planned + int(plan[1][:9]), points
        elif text.startswith("Bail out!"):
            yield from self._emit()
            self._bailed_out = True
            self._last = Result("Bail out!", status="failed", message=text[9:].strip()[:LONGEST_MESSAGE] or None)
        elif text.startswith(("TAP version", "KTAP version")):
            self._seen += 1
            self._spaces = _SPACES_OF_KERNEL if text.startswith("K") else self._spaces
        elif text == "{" and self._last is not None:
            self._path[depth] = self._last_name
        elif indent == 0 and (told := _TOLD_FAILED.fullmatch(text.rstrip())) is not None:
            self._told_failed = max(self._told_failed, int(told[told.lastindex or 0]))
        elif text.startswith("#") and self._last is not None:
            self._comment(self._last, text[1:].strip())

    def _close(self, depth: int) -> None:
        """Look how subtests have kept their plans that stand so far in or further, which are over."""
        for level in [level for level in self._subtests if level >= depth]:
            planned, points = self._subtests.pop(level)
            self._short += points < planned

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

    def _emit(self) -> Iterator[Result]:
        if self._last is not None:
            yield self._last
            self._last = None

    def finish(self) -> Iterator[Found]:
        """Yield what is left; raise Unreadable for what was no TAP at all."""
        if self._yaml is not None:
            self._explain()
        yield from self._emit()
        self._close(1)
        if self._told_failed > self._failed:
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
        elif self._planned is None:
            detail = "The file has no plan such as 1..12: the program may have ended before its last test."
            yield Notice("plan_not_kept", detail)
        elif self._planned != self._points:
            detail = f"The plan has {counted(self._planned, 'test')}, and the file {self._points}."
            yield Notice("plan_not_kept", detail)


def _without_time(rest: str) -> tuple[str, int | None]:
    """Return what stands before the time that a point took, and that time in milliseconds where it is there."""
    rest = rest.rstrip()
    time = _TIME.search(rest[-_LONGEST_TIME:]) if rest.endswith(("s", "s)")) else None
    if time is None:
        return rest, None
    duration_ms = whole_milliseconds(float(time["value"]) * (1 if time["unit"] == "ms" else 1000))
    return rest[: -len(time[0])].rstrip(), duration_ms


FORMAT = ResultFormat("tap", "TAP 14", recognise, read)
