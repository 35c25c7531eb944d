"""Results that are sent to a catalog-service."""

from typing import Any

import pytest

from testing.service import Json, ok

Case = tuple[str, str]
"""The name of a test and how it ends."""

_ENDS = {
    "passed": "",
    "failed": '<failure message="no">it broke</failure>',
    "skipped": "<skipped/>",
    "flaky": '<flakyFailure message="once">it broke</flakyFailure>',
}


def junit(*cases: Case, class_name: str = "tests.Doors", suite_fails: bool = False) -> bytes:
    """Return a JUnit report of cases; a suite that fails has a failure beside those of its cases."""
    inside = "".join(
        f'<testcase classname="{class_name}" name="{name}" time="0.1">{_ENDS[end]}</testcase>' for name, end in cases
    )
    failures = f' failures="{sum(end == "failed" for _, end in cases) + 1}"' if suite_fails else ""
    return f'<testsuites><testsuite name="all"{failures}>{inside}</testsuite></testsuites>'.encode()


class Results:
    """Sends results, and asks what they come to."""

    def __init__(self, catalog: Any) -> None:
        self.catalog = catalog

    async def post(self, content: bytes, headers: dict[str, str] | None = None, **options: Any) -> Any:
        """POST a file; return the response."""
        whole = {"content-type": "application/xml", **(headers or {})}
        return await self.catalog.request("POST", "/test-results", content=content, headers=whole, params=options)

    async def post_form(self, *files: tuple[str, bytes], **options: Any) -> Any:
        """POST files by their names in one form; return the response."""
        parts = [("file", (name, content, "application/xml")) for name, content in files]
        return await self.catalog.request("POST", "/test-results", files=parts, params=options)

    async def send(self, *cases: Case, **options: Any) -> Json:
        """Send cases that must be taken; return the answer."""
        return ok(await self.post(junit(*cases), **options))

    async def verdict(self, requirement: Json, **options: Any) -> Json:
        """Return the results of a requirement."""
        found: Json = await self.catalog.read(f"/requirements/{requirement['id']}/results", **options)
        return found

    async def traced(self, number: int = 1) -> tuple[Json, list[Json]]:
        """Return a requirement and so many test cases that are linked to it, each with an external_id."""
        requirement = await self.catalog.requirement(external_id=f"REQ-{self.catalog.word()}")
        test_cases = []
        for _ in range(number):
            test_case = await self.catalog.test_case(external_id=f"T{self.catalog.word()}")
            await self.catalog.link(requirement, test_case)
            test_cases.append(test_case)
        return requirement, test_cases


@pytest.fixture(scope="module")
def results(catalog: Any) -> Results:
    """Results of a reviewer."""
    return Results(catalog)


class Traced:
    """A requirement with a test case, and tests of it on a branch of their own."""

    def __init__(self, results: Results, requirement: Json, test_case: Json) -> None:
        self.results, self.requirement, self.test_case = results, requirement, test_case
        self.branch = results.catalog.word()
        self.key = test_case["external_id"]

    async def run(self, *cases: tuple[str, str], lane: str, commit: str | None = None, **options: Any) -> Json:
        """Send what a lane found at a commit, and end the run."""
        named = [(f"[{self.key}] {name}", end) for name, end in cases]
        of = {"branch": self.branch, "lane": lane, **({"commit": f"{self.branch} {commit}"} if commit else {})}
        return ok(await self.results.post(junit(*named), **{**of, **options}))

    async def verdict(self, **options: Any) -> str:
        """How the requirement stands."""
        found = await self.results.verdict(self.requirement, branch=self.branch, **options)
        return str(found["verdict"])

    async def standing(self, **options: Any) -> Json:
        """How the test case stands, with its tests."""
        path = f"/test-cases/{self.test_case['id']}/results"
        found: Json = await self.results.catalog.read(path, branch=self.branch, **options)
        return found

    async def gate(self, **rules: Any) -> Json:
        """The gate over the requirement."""
        module = {"module": self.requirement["module"], "branch": self.branch}
        found: Json = await self.results.catalog.read("/reports/gate", **module, **rules)
        return found

    def commit(self, name: str) -> str:
        """The name of a commit of the branch."""
        return f"{self.branch} {name}"


@pytest.fixture
async def traced(results: Results) -> Traced:
    requirement = await results.catalog.requirement(module=results.catalog.word())
    test_case = await results.catalog.test_case(external_id=f"T{results.catalog.word()}")
    await results.catalog.link(requirement, test_case)
    return Traced(results, requirement, test_case)
