"""Runs test runners themselves, and sends what each of their reporters writes."""

import os
import subprocess
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

from testing.service import Json, ok

from .conftest import Results

ROOT = Path(__file__).parents[3]
PYTHON_TOOLS = ROOT / ".venv/runners/bin"
NODE = ROOT / ".venv/bin/node"
NODE_TOOLS = Path(__file__).with_name("runners") / "node_modules"


class Runner(NamedTuple):
    """A runner: the files of a project in which NAME is a test that fails, how it runs, and where its reports are.

    A report is a file, or a folder of Allure. `names`: what the test is called at first, and what after a rename, with
    the external id of its test case: KEY, or IDENTIFIER in identifiers. `tests`: how many there are. It runs in two
    folders, as on two machines.
    """

    files: dict[str, str]
    command: list[str]
    reports: list[str]
    names: tuple[str, str]
    tests: int = 2


def run(runner: Runner, folder: Path, name: str) -> dict[str, bytes]:
    """Run the tests of a runner in a folder; return the reports."""
    for path, text in runner.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text.replace("NAME", name))
    (folder / "node_modules").unlink(missing_ok=True)
    (folder / "node_modules").symlink_to(NODE_TOOLS)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "PYTHON", "CI"))
    }
    path = f"{PYTHON_TOOLS}:{NODE.parent}:{environment['PATH']}"
    # A test fails, by which most of these programs do so, too.
    ended = subprocess.run(
        runner.command,
        cwd=folder,
        env={**environment, "PATH": path},
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    reports = {report: _content(folder / report) for report in runner.reports}
    assert all(reports.values()), ended.stdout + ended.stderr
    return reports


def _content(path: Path) -> bytes:
    """Return a report; a folder packed."""
    if not path.is_dir():
        return path.read_bytes() if path.exists() else b""
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for member in sorted(path.iterdir()):
            archive.write(member, member.name)
            member.unlink()
    return packed.getvalue()


async def send(results: Results, content: bytes, **options: Any) -> dict[str, Json]:
    """Send a report; return what its run has of each test, by the ids of these."""
    sent = ok(await results.post(content, **options))
    found = await results.catalog.read(f"/test-runs/{sent['run']['id']}/results")
    assert sent["run"]["health"] == "ok", sent["warnings"]
    return {one["test"]["id"]: one for one in found["items"]}


async def check(results: Results, runner: Runner, folder: Path) -> None:
    """Check that each report has the same tests and ends, and that a renamed test stays that of its test case."""
    key = f"RUN-{int.from_bytes(os.urandom(4))}"
    test_case = await results.catalog.test_case(external_id=key)
    first, renamed = (name.replace("IDENTIFIER", key.replace("-", "_")).replace("KEY", key) for name in runner.names)
    tests: dict[str, dict[str, str]] = {}
    named = {}
    for report, content in run(runner, folder / "one/shop", first).items():
        found = await send(results, content)
        tests[report] = {test: one["status"] for test, one in found.items()}
        named = {test for test, one in found.items() if one["test_cases"]}
        assert [one["status"] for test, one in found.items() if test in named] == ["failed"], report
    once = tests[runner.reports[0]]
    assert len(once) == runner.tests
    assert tests == dict.fromkeys(runner.reports, once)
    for report, content in run(runner, folder / "two/shop", renamed).items():
        found = await send(results, content)
        (again,) = [test for test in found if test not in once]
        assert [case["id"] for case in found[again]["test_cases"]] == [test_case["id"]], report
