"""The check of dependencies: vulnerabilities are known, accepted with a reason, or the lock is young."""

from datetime import date
from pathlib import Path

import pytest

from acceptance.vulnerabilities import ACCEPTED, LOCKS, Refused, accepted, age, reported, reported_by_npm, unaccepted

SAFE = '{"name": "pip", "version": "1.0", "vulns": []}'
VULNERABLE = (
    '{"name": "uv", "version": "2.0", "vulns": [{"id": "PYSEC-1", "aliases": ["CVE-1"]}, {"id": "G-2", "aliases": []}]}'
)
UNKNOWN = '{"name": "our-own", "skip_reason": "Dependency not found on PyPI and could not be audited"}'
KNOWN = {"uv 2.0, vulnerability 1": {"PYSEC-1", "CVE-1"}, "uv 2.0, vulnerability 2": {"G-2"}}


def test_the_vulnerabilities_that_pip_audit_reports_are_known_by_all_their_names() -> None:
    assert reported(f'{{"dependencies": [{SAFE}, {VULNERABLE}]}}') == KNOWN
    assert reported(f'{{"dependencies": [{SAFE}]}}') == {}


@pytest.mark.parametrize("report", ["", f'{{"dependencies": [{SAFE}, {UNKNOWN}]}}'], ids=["no report", "not all"])
def test_packages_that_nobody_looked_at_do_not_count_as_safe(report: str) -> None:
    assert reported(report) is None


def test_the_vulnerabilities_that_npm_reports_are_known_by_their_advisory() -> None:
    advisory = '{"source": 7, "name": "vite", "range": "<9", "url": "https://github.com/advisories/GHSA-1"}'
    report = '{"auditReportVersion": 2, "vulnerabilities": {"vite": {"via": [%s]}, "plugin": {"via": ["vite"]}}}'
    assert reported_by_npm(report % advisory) == {"vite <9, vulnerability 7": {"GHSA-1"}}
    assert reported_by_npm('{"message": "request failed", "error": {"summary": ""}}') is None
    assert reported_by_npm("") is None


def test_a_reason_is_not_refused_where_nobody_could_look_whether_it_is_needed() -> None:
    assert unaccepted({}, {"CVE-1": "not called"}, is_all=False) == []


def test_a_known_vulnerability_is_refused_unless_one_of_its_names_is_accepted() -> None:
    assert unaccepted(KNOWN, {"CVE-1": "not called"}) == ["uv 2.0, vulnerability 2 is known: G-2."]
    assert unaccepted(KNOWN, {"CVE-1": "not called", "G-2": "only on Windows"}) == []


def test_an_accepted_vulnerability_that_nothing_has_any_more_is_refused() -> None:
    assert unaccepted({}, {"CVE-1": "not called"}) == ["CVE-1 is accepted, and nothing has it any more."]


def test_a_vulnerability_is_accepted_with_a_reason_only(tmp_path: Path) -> None:
    file = tmp_path / "accepted.toml"
    file.write_text('CVE-1 = "not called"\nCVE-2 = " "\n')
    with pytest.raises(Refused, match="CVE-2 without a reason"):
        accepted(file)


def test_the_list_of_accepted_can_be_read() -> None:
    assert all(accepted(ACCEPTED).values())


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: f"{path.parent.name} {path.name}")
def test_a_lock_says_when_it_was_made(lock: Path) -> None:
    made = date.fromisoformat(lock.read_text()[len("# Made by `make lock` on ") :][:10])
    assert age(lock, made).days == 0


def test_an_old_lock_and_one_without_a_date_are_refused(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text("# Made by `make lock` on 2026-01-01.\npip==1.0 \\\n")
    assert age(lock, date(2026, 1, 31)).days == 30
    with pytest.raises(Refused, match="lock is 31 days old"):
        age(lock, date(2026, 2, 1))
    lock.write_text("pip==1.0 \\\n")
    with pytest.raises(Refused, match="does not say when it was made"):
        age(lock, date(2026, 4, 2))
