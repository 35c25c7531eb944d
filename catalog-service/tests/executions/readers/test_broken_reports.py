"""Reports that are of a format as far as one can see, and broken: refused with their place, never taken for empty."""

import gzip
import io
import time
import tracemalloc
import zipfile

import pytest

from catalog_service.executions.read import Order, Read, Refusal, read

CTRF = b'{"results": {"tool": {"name": "x"}, "summary": {},\n'


def _refused(content: bytes) -> tuple[str, int | None, int | None]:
    refused = read(io.BytesIO(content), io.BytesIO(), Order("auto"))
    assert isinstance(refused, Refusal), refused
    assert refused.status == 422
    return refused.detail, refused.members.get("line"), refused.members.get("column")


@pytest.mark.parametrize(
    ("content", "told", "line", "column"),
    [
        (b'{"results":{"tests":"no"}}', "results.tests is to be a list, not a text.", 1, 21),
        (CTRF + b'"tests": [{"name": "a"},\n 1]}}', "results.tests[1] is to be an object, not a number.", 3, 2),
        (CTRF + b'"extra": null}}', "The file has no results.tests, where its results would be.", 1, 1),
        (CTRF + b'"te', "The file is cut off: its JSON ends unfinished at line 2.", 2, 4),
        (b'[{"keyword":"Feature","elements":"no"}]', "[0].elements is to be a list, not a text.", 1, 34),
        (
            b'[{"keyword":"Feature","elements":[{"steps":\n[{},3]}]}]',
            "[0].elements[0].steps[1] is to be an object, not a number.",
            2,
            5,
        ),
        (b'{"config":{},"suites":true}', "suites is to be a list, not true or false.", 1, 23),
        (
            b'\xef\xbb\xbf{"config":{},"suites":[{"suites":[{"specs":[null]}]}]}',
            "suites[0].suites[0].specs[0] is to be an object, not null.",
            1,
            45,
        ),
        (
            b'{"Action":"run","Package":"p"}\n{"Action":5,"Package":"p"}',
            "Action, Package and Test in line 2 are to be texts.",
            2,
            1,
        ),
        (b'{"pickle":{}}\n{"testCaseStarted":"x"}', "'testCaseStarted' in line 2 is to be an object.", 2, 1),
        (b'{"uuid":"u","status":"passed","labels":"x"}', "labels is to be a list, not a text.", 1, 40),
        (b"PK\x03\x04rubbish", "The zip archive is damaged or cut off; pack it anew.", None, None),
    ],
)
def test_what_is_broken_is_told_with_its_place(content: bytes, told: str, line: int | None, column: int | None) -> None:
    assert _refused(content) == (told, line, column)


def test_a_value_behind_a_long_file_has_its_place() -> None:
    tests = b'{"name": "a", "status": "passed"},\n' * 5000
    assert _refused(CTRF + b'"tests": [' + tests + b"  [1]]}}")[1:] == (5002, 3)


def test_a_result_of_allure_in_an_archive_is_named() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a-result.json", '{"uuid":"u","status":"passed",\n"labels":["x"]}')
    told = "'a-result.json': labels[0] is to be an object, not a text."
    assert _refused(packed.getvalue()) == (told, 2, 11)


@pytest.mark.parametrize("chosen", ["auto", "junit", "tap", "go-test-json"])
@pytest.mark.parametrize(
    "content",
    [b"\n", b" \t\r\n" * 50_000, b"\xef\xbb\xbf\n", "\ufeff\n".encode("utf-16"), gzip.compress(b"")],
    ids=["line", "lines", "utf-8", "utf-16", "gzip"],
)
def test_a_file_of_blanks_is_empty(content: bytes, chosen: str) -> None:
    refused = read(io.BytesIO(content), io.BytesIO(), Order(chosen))
    assert isinstance(refused, Refusal)
    assert (refused.status, refused.code) == (422, "empty_file")
    assert refused.detail.startswith("The file is empty")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-8"])
@pytest.mark.parametrize(
    ("known", "text"),
    [
        ("junit", '<?xml version="1.0" encoding="utf-16"?><testsuite><testcase name="ü"/></testsuite>'),
        ("nunit", '<test-run><test-suite><test-case name="ü" result="Passed"/></test-suite></test-run>'),
        ("trx", '<TestRun><Results><UnitTestResult testName="ü" outcome="Passed"/></Results></TestRun>'),
        (
            "xunit-net",
            '<assemblies><assembly><collection><test name="ü" result="Pass"/></collection></assembly></assemblies>',
        ),
        ("robot", '<robot><suite name="s"><test name="ü"><status status="PASS"/></test></suite></robot>'),
        ("ctrf", CTRF.decode() + '"tests": [{"name": "ü", "status": "Passed"}]}}'),
        (
            "cucumber-json",
            '[{"keyword": "Feature", "elements": [{"name": "ü", "steps": [{"result": {"status": "passed"}}]}]}]',
        ),
        ("go-test-json", '{"Action": "pass", "Package": "p", "Test": "ü"}\r\n'),
        ("tap", "TAP version 14\n1..1\nok 1 - ü\n"),
    ],
)
def test_reports_are_read_in_the_encodings_that_windows_writes(known: str, text: str, encoding: str) -> None:
    content = f"\ufeff{text.replace('utf-16', encoding.removesuffix('-le').removesuffix('-be'))}".encode(encoding)
    out = io.BytesIO()
    found = read(io.BytesIO(content), out, Order("auto"))
    assert isinstance(found, Read), found
    assert (found.format, found.counts["passed"]) == (known, 1)
    assert "ü" in out.getvalue().decode()


def test_what_only_begins_as_utf_16_is_refused() -> None:
    content = '\ufeff{"Action": "pass", "Package": "p", "Test": "t"}'.encode("utf-16-le") + b"\x00\xd8\x00"
    assert _refused(content)[0].startswith("The file begins as UTF-16")


@pytest.mark.parametrize(
    "content",
    [
        b"1..1\nnot ok 1 - a" + b" " * 100_000 + b"b\n",
        b"1..1\nnot ok 1 - a" + b" # TIMEOUT" * 10_000 + b"\n",
        b"1..1\nnot ok 1 - a" + b" # time=" * 10_000 + b"\n",
        b'<robot><suite name="s"><test name="t"><status status="FAIL">*HTML*' + b"&lt;" * 100_000 + b"</status></test>"
        b"</suite></robot>",
    ],
)
def test_a_long_line_takes_no_longer_than_many_short_ones(content: bytes) -> None:
    begun = time.process_time()
    found = read(io.BytesIO(content), io.BytesIO(), Order("auto"))
    assert isinstance(found, Read)
    assert found.counts["failed"] == 1
    assert time.process_time() - begun < 2, "the square of its length, which would be minutes"


def test_suites_of_robot_lie_no_deeper_in_one_another_than_folders_do() -> None:
    test = b'<test name="t"><status status="PASS"/></test>'
    content = b"<robot>" + b'<suite name="s">' * 65 + test + b"</suite>" * 65 + b"</robot>"
    assert _refused(content) == ("Suites lie more than 64 deep in one another here.", 1, 1032)


def test_nothing_of_a_file_stays_in_memory_when_it_has_been_read() -> None:
    def of(number: int) -> bytes:
        name = f"{number}".ljust(400_000, "c")
        return f'<testsuite><testcase name="a" classname="{name}" time="{name}"/></testsuite>'.encode()

    read(io.BytesIO(of(0)), io.BytesIO(), Order("auto"))
    tracemalloc.start()
    try:
        for number in range(1, 6):
            assert isinstance(read(io.BytesIO(of(number)), io.BytesIO(), Order("auto")), Read)
        assert tracemalloc.get_traced_memory()[0] < 400_000
    finally:
        tracemalloc.stop()
