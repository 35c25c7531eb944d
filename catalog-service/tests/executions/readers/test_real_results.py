"""Reports of real tools: as many results as a person counts in each, and none is counted twice."""

import io
from pathlib import Path

import pytest
from exchange_samples import FOLDER, samples

from catalog_service.executions.read import Order, Read, Refusal, read

COUNTED = {
    "junit/allure-retry.xml": (0, 1, 0, 0),
    "junit/ant-1463.xml": (6, 0, 0, 0),
    "junit/bazel.xml": (0, 1, 0, 0),
    "junit/ctest.xml": (3, 1, 0, 1),
    "junit/flaky-with-classname-file.xml": (3, 2, 0, 0),
    "junit/go-junit-report-030.xml": (8, 9, 0, 0),
    "junit/googletest.xml": (17, 4, 0, 3),
    "junit/gotestsum.xml": (42, 13, 0, 5),
    "junit/jest-junit.xml": (1, 4, 0, 1),
    "junit/mocha-latex-utensils.xml": (109, 0, 0, 0),
    "junit/multiresult.xml": (1, 2, 0, 1),
    "junit/nested-multi-level.xml": (3, 0, 0, 0),
    "junit/nextest.xml": (2, 1, 0, 0),
    "junit/no-attributes.xml": (1, 2, 0, 1),
    "junit/perl.xml": (1, 0, 0, 0),
    "junit/phpunit-phpcheckstyle.xml": (28, 2, 0, 0),
    "junit/properties.xml": (4, 1, 0, 1),
    "junit/pytest-horovod.xml": (80, 0, 0, 17),
    "junit/pytest-sphinx.xml": (1146, 4, 0, 2),
    "junit/scalatest.xml": (5, 0, 0, 0),
    "junit/surefire-StringUtils.xml": (2, 2, 0, 1),
    "junit/surefire-flaky.xml": (0, 0, 1, 0),
    "junit/swift.xml": (2, 1, 0, 0),
    "junit/with-properties.xml": (1, 1, 0, 0),
    "ctrf/comprehensive.json": (1, 1, 1, 0),
    "ctrf/github-test-reporter.json": (2, 2, 3, 3),
    "ctrf/instance-scheduler.json": (1, 0, 0, 0),
    "cucumber-json/before-and-after-hook.json": (1, 0, 0, 0),
    "cucumber-json/cluecumber.json": (1, 0, 0, 0),
    "cucumber-json/happy_flow_v1.json": (3, 0, 0, 0),
    "cucumber-messages/all-statuses.ndjson": (1, 4, 0, 1),
    "cucumber-messages/examples-tables.ndjson": (5, 2, 0, 0),
    "robot/golden.xml": (1, 0, 0, 0),
    "robot/rf-5.0.xml": (175, 10, 0, 0),
    "robot/rf-7-inline-var.xml": (1, 0, 0, 0),
    "robot-legacy/rf-2-failing.xml": (4, 4, 0, 0),
    "trx/dotnet-trx.trx": (5, 5, 0, 1),
    "trx/with-children.trx": (3, 4, 0, 0),
    "playwright-json/report-valid.json": (10, 2, 1, 1),
    "allure/1649989e-8043-4906-b645-a317a7fc3e72-result.json": (1, 0, 0, 0),
    "allure/1d90317d-c327-4965-a81f-660da80919cd-result.json": (1, 0, 0, 0),
    "nunit/dotnet-nunit.xml": (3, 5, 0, 1),
    "nunit/nunit3-testcase5.xml": (0, 19, 0, 0),
    "xunit-net/fixie.xml": (3, 3, 0, 1),
    "xunit-net/testcase5.xml": (5, 0, 0, 0),
    "tap/everything.tap": (6, 6, 0, 8),
    "go-test-json/flaky-rerun.json": (3, 0, 3, 0),
}
"""Passed, failed, flaky and skipped, as they were counted one by one."""

_FORMATS = {"robot-legacy": "robot"}


def found(path: Path, name: str = "auto") -> Read | Refusal:
    with path.open("rb") as file:
        return read(file, io.BytesIO(), Order(name, path.name))


@pytest.mark.parametrize("path", samples(*(f"{folder}/*" for folder in sorted({key.split("/")[0] for key in COUNTED}))))
def test_a_report_has_as_many_results_as_a_person_counts(path: Path) -> None:
    name = f"{path.parent.name}/{path.name}"
    result = found(path)
    assert isinstance(result, Read), result
    assert result.format == _FORMATS.get(path.parent.name, path.parent.name)
    counts = result.counts
    ends = tuple(counts[end] for end in ("passed", "failed", "flaky", "skipped"))
    assert ends == COUNTED.get(name, ends), name
    assert counts["results"] == sum(ends) > 0


@pytest.mark.parametrize("path", samples("junit-invalid/*"))
def test_a_damaged_report_is_refused_with_its_place(path: Path) -> None:
    refused = found(path)
    assert isinstance(refused, Refusal)
    assert (refused.status, refused.code) == (422, "unreadable_file")
    assert {"line", "column"} <= refused.members.keys()


@pytest.mark.parametrize(
    "path", samples("junit/*", "robot/*", "ctrf/*", "cucumber-json/*", "trx/*", "playwright-json/*")
)
def test_a_report_that_is_cut_off_is_refused(path: Path) -> None:
    whole = path.read_bytes()
    file = io.BytesIO(whole[: len(whole) * 2 // 3])
    refused = read(file, io.BytesIO(), Order(_FORMATS.get(path.parent.name, path.parent.name)))
    assert isinstance(refused, Refusal)
    assert refused.members["line"] >= 1


def test_every_sample_is_counted() -> None:
    if not FOLDER.is_dir():
        pytest.skip(f"NOT RUN: there are no samples in {FOLDER}")
    assert [name for name in COUNTED if not (FOLDER / name).is_file()] == []
