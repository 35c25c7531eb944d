"""What readers make of a result file, whatever its format: results, and what a person has to know of them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import BinaryIO, Literal

from catalog_service.exchange.records import Notice
from contracts.result_properties import REQUIREMENTS, TEST_CASES

Status = Literal["passed", "failed", "skipped"]

LONGEST_MESSAGE = 4096
LONGEST_TRACE = 16384
"""Characters that are kept of what a failure says."""


@dataclass(slots=True)
class Result:
    """How one test ended, once.

    `class_name`, `suite` and `file` are empty where the file does not say them. `iteration` tells cases of one test
    with different parameters apart, where the name does not. `named` are test cases and `requirements` are
    requirements, by what the file calls them; `tags` may be of either. `place` is what the file says of where the test
    stands and its names leave out: of one name, two places are two tests. `former`: what the test was called before, if
    that was otherwise: class, name, suite and file. `failed_before`: earlier attempts failed, of
    which the file says no more; `is_attempt`: it is one of several attempts of the same test, of which the last counts.
    """

    name: str
    class_name: str = ""
    suite: str = ""
    file: str = ""
    iteration: str = ""
    place: str = ""
    former: tuple[str, str, str, str] | None = None
    status: Status = "passed"
    duration_ms: int | None = None
    message: str | None = None
    trace: str | None = None
    named: list[str] | None = None
    requirements: list[str] | None = None
    tags: list[str] | None = None
    failed_before: bool = False
    is_attempt: bool = False


Found = Result | Notice


@dataclass(frozen=True, slots=True)
class ResultFormat:
    """A format of results: what it is called, how a file of it is recognised, and how it is read.

    `recognise` gets the first 64 KiB, or of an archive the whole file, and the name in lower case; it returns how sure
    it is, 0..1. `read` gets a seekable file, yields as it reads, holds no file whole, and raises Unreadable.
    """

    name: str
    label: str
    recognise: Callable[[BinaryIO, str], float]
    read: Callable[[BinaryIO, "ReadAs"], Iterator[Found]]


_APART = re.compile(r"[,;\s]+")


def ids_of(value: str | None) -> list[str]:
    """Return the ids in a text, with commas, semicolons or blanks between them."""
    return [word for word in _APART.split(value) if word] if value else []


@dataclass(frozen=True, slots=True)
class Properties:
    """The names, in lower case, by which properties, attributes and labels of results name test cases, requirements.

    What is named by one of `either` may be a test case or a requirement, which only the record knows.
    """

    test_cases: frozenset[str]
    requirements: frozenset[str]
    either: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """All of them."""
        return self.test_cases | self.requirements | self.either

    def note(self, result: Result, name: str, value: str | None) -> None:
        """Note what a property, attribute or label of a result says, if it is about test cases or requirements."""
        key = name.lower()
        if key == "testrail_case_field":
            if key not in self.test_cases or not value or not value.lower().startswith("refs"):
                return
            value = value[4:].lstrip(" :=")
        if key in self.test_cases:
            result.named = _with(result.named, ids_of(value))
        elif key in self.requirements:
            result.requirements = _with(result.requirements, ids_of(value))
        elif key in self.either:
            result.tags = _with(result.tags, [one.removeprefix("@") for one in ids_of(value)])

    @staticmethod
    def name_test_case(result: Result, value: str) -> None:
        """Note what can be nothing but test cases."""
        result.named = _with(result.named, ids_of(value))

    def note_tag(self, result: Result, tag: str) -> None:
        """Note a tag: it may name a test case or a requirement, which only the record knows."""
        text = tag.removeprefix("@").strip()
        name, mark, value = text.partition(":") if ":" in text else text.partition("=")
        if mark and name.strip().lower() in self.names:
            self.note(result, name.strip(), value.lstrip(":="))
            return
        if not any(map(str.isdigit, text)):
            return
        words = [text, text[5:]] if text.startswith("TEST_") else [text]
        if text.startswith("REQ_"):
            words.append(text[4:])
        if "::" in text:
            words.append(text.partition("::")[2])
        result.tags = _with(result.tags, words)


def _with(known: list[str] | None, more: list[str]) -> list[str]:
    """Return the list with more in it, itself: a result may have hundreds of thousands of properties."""
    if known is None:
        return more
    known += more
    return known


def properties_of(wanted: Mapping[str, Sequence[str] | None] | None) -> Properties:
    """Return which properties name what, as a project wants it; None, also of one kind: as the installation says."""
    said = wanted or {}
    test_cases = _lower(TEST_CASES if (names := said.get("test_cases")) is None else names)
    requirements = _lower(REQUIREMENTS if (names := said.get("requirements")) is None else names)
    either = test_cases & requirements
    return Properties(test_cases - either, requirements - either, either)


def _lower(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


DEFAULT_PROPERTIES = properties_of(None)


@dataclass(frozen=True, slots=True)
class ReadAs:
    """How a file is to be taken: whether steps that nobody has written fail, and which properties name what.

    `workspace`: where it was made, if its sender says so.
    """

    undefined_fails: bool = True
    properties: Properties = DEFAULT_PROPERTIES
    workspace: str = ""


@lru_cache(4096)
def milliseconds(seconds: str | None) -> int | None:
    """Return the milliseconds of a text of seconds: with a comma or thousands signs, too; None for none that is one."""
    if not seconds:
        return None
    try:
        value = float(seconds)
    except ValueError:
        text = seconds.strip().removesuffix("s").replace(" ", "").replace("\u00a0", "").replace("'", "")
        comma, point = text.rfind(","), text.rfind(".")
        if comma > point >= 0 or (comma >= 0 and point < 0 and not re.fullmatch(r"\d{1,3}(,\d{3})+", text)):
            text = text.replace(".", "").replace(",", ".")
        try:
            value = float(text.replace(",", ""))
        except ValueError:
            return None
    return whole_milliseconds(value * 1000)


def whole_milliseconds(value: float) -> int | None:
    """Return a duration as it is stored; None for what is none."""
    return round(value) if 0 <= value < 2**31 else None


def first_line(text: str) -> str:
    """Return the first line of a text that says anything."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
