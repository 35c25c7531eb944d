"""The formats of results that can be read, by name and by what a file looks like."""

import codecs
from io import BytesIO
from typing import BinaryIO

import orjson

from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.refusals import has_root, xml_of
from catalog_service.executions.readers import (
    allure,
    ctrf,
    cucumber_json,
    cucumber_messages,
    go_test,
    junit,
    nunit,
    playwright,
    robot,
    tap,
    trx,
    xunit_net,
)
from catalog_service.executions.readers.results import ResultFormat
from chassis.core.problems import UnsupportedMediaType
from chassis.core.wording import shown
from chassis.files.archives import is_archive
from chassis.files.xml_events import XmlHandler

FORMATS: tuple[ResultFormat, ...] = (
    junit.FORMAT,
    ctrf.FORMAT,
    cucumber_json.FORMAT,
    cucumber_messages.FORMAT,
    robot.FORMAT,
    trx.FORMAT,
    playwright.FORMAT,
    allure.FORMAT,
    nunit.FORMAT,
    xunit_net.FORMAT,
    tap.FORMAT,
    go_test.FORMAT,
)
"""A line a format; of two that are equally sure of a file, the one that stands first reads it."""
_ARCHIVES = (allure.FORMAT,)

_HEAD = 64 * 1024
_BLANKS = b"\xef\xbb\xbf \t\r\n"
_OTHERS = (
    (
        (b"test-results",),
        "This is a report of NUnit 2: run the tests by the console of NUnit 3 without `format=nunit2`, or by"
        " `dotnet test --logger trx`; with Pester by `TestResult.OutputFormat = 'JUnitXml'`.",
    ),
    ((b"Site",), "This is what CTest sends to CDash: `ctest --output-junit FILE` writes a JUnit report (CMake 3.21)."),
    ((b"testng-results",), "This is TestNG's own report: send those of the folder `junitreports` beside it."),
    ((b"failsafe-summary",), "This sums up what Maven Failsafe has run: send the files TEST-*.xml beside it."),
    ((b"TestCase",), "This is Qt Test's own report: run the tests with `-o FILE,junitxml`."),
    ((b"Catch", b"Catch2TestRun"), "This is Catch2's own report: run the tests with `--reporter junit`."),
    ((b"doctest",), "This is doctest's own report: run the tests with `--reporters=junit`."),
    (
        (b"testsuites",),
        "This is Check's own report: run the tests with `CK_TAP_LOG_FILE_NAME=FILE`, and send that file.",
    ),
    ((b"TestRun",), "This is CppUnit's own report, which is not read: have what it says written as JUnit XML."),
    ((b"TestLog", b"TestResult"), "This is Boost.Test's own report: run the tests with `--log_format=JUNIT`."),
    (
        (b"test-suite",),
        "This is of Allure 1, which is not read: send results of Allure 2, or the runner's JUnit report.",
    ),
    ((b"events",), "This is JUnit's Open Test Report: send the TEST-*.xml that it writes, too."),
    ((b"testExecutions",), "This is what SonarQube takes: have the tests write a JUnit report, too."),
    ((b"checkstyle",), "This is what a linter found; ESLint writes a JUnit report with `--format junit`."),
    ((b"coverage", b"report"), "This says which lines of code ran, and of no test how it ended."),
    ((b"html", b"HTML"), "This is a web page: send the report that the test tool writes for other programs."),
)
"""Root elements of files that people send in vain, and what to send instead."""
_OF_K6 = "This is k6's own JSON: write what `jUnit` of its library k6-summary makes in `handleSummary`, and send that."
_OTHER_JSON = (
    (
        (b'"numTotalTestSuites"',),
        "This is Jest's own JSON: use its reporter jest-junit; with Vitest `--reporter=junit`.",
    ),
    (
        (b'"stats"', b'"passes"', b'"pending"'),
        "This is Mocha's own JSON: use mocha-junit-reporter; with Cypress `--reporter junit`.",
    ),
    ((b'"uuid"', b'"children"'), "This is of fixtures in Allure: send its whole folder, packed into one zip."),
    ((b'"examples"', b'"full_description"'), "This is RSpec's own JSON: use rspec_junit_formatter."),
    ((b'"exitcode"', b'"collectors"'), "This is of pytest-json-report: run pytest with `--junitxml=FILE`."),
    (
        (b'"root_group"', b'"metrics"'),
        _OF_K6,
    ),
    (
        (b'"type":"Metric"', b'"data"'),
        _OF_K6,
    ),
    ((b'"collection"', b'"run"'), "This is Newman's own JSON: run it with `--reporters junit`."),
    ((b'"protocolVersion"', b'"runnerVersion"'), "This is Dart's own JSON: pipe it into `tojunit` of junitreport."),
    ((b'"testsuites"', b'"disabled"'), "This is GoogleTest's own JSON: run it with `--gtest_output=xml:FILE`."),
    ((b'"generator"', b'"rpa"'), "This is Robot Framework's own JSON: run it with `--output output.xml`."),
    ((b'"type"', b'"event"', b'"test_count"'), "This is Rust's own JSON: cargo-nextest writes a JUnit report."),
)
"""Names in JSON files that people send in vain, and what to send instead."""


def find(name: str) -> ResultFormat:
    """Return the format of this name; raise UnsupportedMediaType where there is none."""
    for known in FORMATS:
        if known.name == name:
            return known
    raise unknown_format(f"There is no format of results {shown(name)}.")


def recognise(file: BinaryIO, file_name: str | None) -> ResultFormat:
    """Return the format that a seekable file most likely has.

    Raises UnsupportedMediaType where it has none, and Unreadable where it is too broken to say.
    """
    name = (file_name or "").lower()
    sure = recognise_content(file, name)
    best = max(FORMATS, key=lambda known: sure.get(known.name, 0.0))
    if sure.get(best.name):
        return best
    begins = file.read(_HEAD)
    file.seek(0)
    head = _plain(begins)
    what = f"The file {shown(file_name)}" if file_name else "The file"
    hint = _hint(head)
    if is_archive(begins):
        hint = "Of archives, those of Allure are read; send the files in it, several as parts of one form. "
    elif not hint:
        _refuse_broken(file, head, name)
    raise unknown_format(f"{hint}{what} holds no results in a format that can be read.")


def recognise_content(file: BinaryIO, name: str) -> dict[str, float]:
    """Return how sure each format is of a seekable file by its content and its name in lower case."""
    file.seek(0)
    begins = file.read(_HEAD)
    # Of an archive, what it holds may stand there as it is, and is no report by itself.
    looked_at, formats = (file, _ARCHIVES) if is_archive(begins) else (BytesIO(_plain(begins)), FORMATS)
    sure = {}
    for known in formats:
        looked_at.seek(0)
        sure[known.name] = known.recognise(looked_at, name)
    file.seek(0)
    return sure


def _refuse_broken(file: BinaryIO, head: bytes, name: str) -> None:
    """Raise Unreadable for XML that is not well-formed, and for JSON that ends before it has said what it is."""
    begins = head.lstrip(_BLANKS)[:1]
    if begins == b"<" or name.endswith((".xml", ".trx")):
        for _ in xml_of(file, XmlHandler()):
            pass
    elif begins in (b"{", b"[") and len(head) < _HEAD:
        text = head.removeprefix(codecs.BOM_UTF8).rstrip()
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError as error:
            if error.pos == len(text.decode("utf-8", "ignore")):
                detail = f"The file is cut off: its JSON ends unfinished at line {error.lineno}."
                raise Unreadable(detail, code="cut_off", line=error.lineno, column=error.colno) from None


def _hint(head: bytes) -> str:
    """Return what to send instead of a file that begins so, and a blank; empty where nobody knows."""
    if head.lstrip(_BLANKS).startswith(b"{"):
        return next((f"{hint} " for names, hint in _OTHER_JSON if all(name in head for name in names)), "")
    return next((f"{hint} " for roots, hint in _OTHERS if has_root(head, *roots)), "")


def _plain(head: bytes) -> bytes:
    """Return the beginning of a file as UTF-8, where it is UTF-16."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head.decode("utf-16", "ignore").encode()
    return head.replace(b"\0", b"")


def unknown_format(reason: str) -> UnsupportedMediaType:
    """Return the problem of a format that is not known, which names those that are."""
    understood = ", ".join(f"{known.name} ({known.label})" for known in FORMATS)
    return UnsupportedMediaType(
        f"{reason} Understood are: {understood}.",
        code="unknown_format",
        members={"formats": [known.name for known in FORMATS]},
    )
