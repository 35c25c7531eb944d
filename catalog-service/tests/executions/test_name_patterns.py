"""Which test cases names of tests name, by the patterns of their project, and what those would change."""

import dataclasses
from typing import Any

import pytest

from catalog_service.executions.names import guesser
from catalog_service.handlers import HANDLERS
from chassis.core.identity import Identity, Role
from chassis.core.projects import NONE
from chassis.messaging.events import SYSTEM, NewEvent, sequenced
from chassis.messaging.inbox import Inbox
from contracts import auth, projects
from contracts.name_patterns import NamePattern
from testing.service import Json, ok, problem

from .conftest import Results, junit

PROJECT = "NAMED"
RITA = Identity(id=2, email="rita@example.test", role=Role.REVIEWER, project=PROJECT)
TC: Json = {"name": "tc{number}", "external_id": "TC-{number}"}


@pytest.fixture(scope="module")
def results(catalog: Any) -> Results:
    """Results of a reviewer in a project of their own."""
    return Results(catalog.being(RITA))


async def _keep(catalog: Any, place: int, patterns: list[Json] | None, project: str = PROJECT) -> None:
    """Have the project keep patterns, as auth-service tells of it."""
    kept = None if patterns is None else tuple(projects.NamePattern(**one) for one in patterns)
    await _want(catalog, place, projects.ProjectSettings(name_patterns=kept), project)


async def _want(catalog: Any, place: int, settings: projects.ProjectSettings, project: str) -> None:
    state = projects.ProjectState(
        key=project,
        name=project,
        description="",
        visibility="open",
        archived=False,
        settings=settings,
    )
    told = NewEvent(auth.ProjectUpdated(project=state, changes={}), project, SYSTEM, project=NONE)
    await Inbox("catalog", catalog.database, HANDLERS).receive([sequenced(place, told.envelope())])


@pytest.mark.parametrize(
    ("pattern", "external_id", "name", "ids"),
    [
        ("tc{number}", "TC-{number}", "test_tc7_opens_tc08", ["TC-7", "TC-08"]),
        ("tc{number}", "TC-{number}", "abctc7 tc7th TC7 tc12345678901", []),
        ("*TC{number}*", "TC-{number}", "testTC7Opens", ["TC-7"]),
        ("[{id}]", "{id}", "opens[A-1.2]", ["A-1.2"]),
        ("{letters}{number}", "{letters}-{number}", "it's req7", ["req-7"]),
        ("case {number}:", "{number}", "case 7: case 8", ["7"]),
        ("(a+)+{number}", "{number}", "aaaa7 (a+)+8", ["8"]),
    ],
)
def test_a_pattern_finds_what_it_says(pattern: str, external_id: str, name: str, ids: list[str]) -> None:
    assert guesser([NamePattern(name=pattern, external_id=external_id)])(name) == ids


async def test_the_patterns_of_a_project_match_its_results_instead_of_the_usual_ones(results: Results) -> None:
    catalog = results.catalog
    for external_id in ("TC-7", "TC-8"):
        await catalog.test_case(external_id=external_id)
    cases = (("opens_tc7_wide", "passed"), ("TC-8: opens", "passed"))
    assert (await results.send(*cases))["matched"] == 1
    await _keep(catalog, 1, [TC])
    assert (await results.send(("again_tc7_wide", "passed"), ("TC-8: again", "passed")))["matched"] == 1
    (test,) = (await catalog.read("/automated-tests", search="again_tc7_wide"))["items"]
    assert (test["matched_by"], test["test_cases"][0]["external_id"]) == ("name", "TC-7")
    await _keep(catalog, 2, [])
    assert (await results.send(("third_tc7_wide", "passed"), ("TC-8: third", "passed")))["matched"] == 0
    await _keep(catalog, 3, None)
    assert (await results.send(("TC-8: fourth", "passed")))["matched"] == 1


async def test_a_trial_says_what_would_change_and_that_is_what_changes(results: Results) -> None:
    catalog = results.catalog.being(dataclasses.replace(RITA, project="TRIED"))
    there = Results(catalog)
    for external_id in ("A-1", "B-1", "B-2"):
        await catalog.test_case(external_id=external_id)
    named = '<testsuite><testcase classname="t" name="b2 told"><properties><property name="test_key" value="A-1"/>'
    ok(await there.post(f"{named}</properties></testcase></testsuite>".encode()))
    names = ("A-1 b1 both", "only b1", "A-1 alone", "b3 nobody", "nothing", "with [b2]")
    ok(await there.post(junit(*((name, "passed") for name in names))))
    before = await catalog.read("/automated-tests")

    patterns = [{"name": "b{number}", "external_id": "B-{number}"}, {"name": "z{number}", "external_id": "Z-{number}"}]
    tried = ok(await catalog.post("/automated-tests/try-patterns", {"patterns": patterns}))
    assert await catalog.read("/automated-tests") == before
    assert [
        (one["test"]["name"], one["effect"], [case["external_id"] for case in one["test_cases"]])
        for one in tried["items"]
    ] == [
        ("A-1 b1 both", "changed", ["B-1"]),
        ("only b1", "new", ["B-1"]),
        ("with", "new", ["B-2"]),
        ("A-1 alone", "remembered", []),
        ("b3 nobody", "unknown", []),
        ("b2 told", "overruled", ["B-2"]),
    ]
    assert (tried["tests"], tried["total"], [one["tests"] for one in tried["patterns"]]) == (7, 6, [5, 0])
    assert tried["effects"] == {"changed": 1, "new": 2, "remembered": 1, "unknown": 1, "overruled": 1, "same": 0}
    assert tried["items"][3]["external_ids"] == []
    page = ok(await catalog.post("/automated-tests/try-patterns?skip=1&limit=2", {"patterns": patterns}))
    assert page["items"] == tried["items"][1:3]
    usual = ok(await catalog.post("/automated-tests/try-patterns", {"patterns": None}))
    assert {one["test"]["name"]: one["effect"] for one in usual["items"]} == {
        **dict.fromkeys(("A-1 b1 both", "A-1 alone"), "same"),
        "with": "unknown",
    }

    await _keep(catalog, 4, patterns, "TRIED")
    ok(await there.post(junit(*((name, "failed") for name in names))))
    now = {
        test["name"]: [case["external_id"] for case in test["test_cases"]]
        for test in (await catalog.read("/automated-tests"))["items"]
    }
    told = {one["test"]["name"]: [case["external_id"] for case in one["test_cases"]] for one in tried["items"]}
    stays = {"A-1 alone": ["A-1"], "b2 told": ["A-1"], "nothing": []}
    assert now == told | stays

    refused = problem(await catalog.post("/automated-tests/try-patterns", {"patterns": [{**TC, "name": "(a+)+"}]}), 422)
    assert refused["errors"][0]["pointer"] == "/patterns/0/name"


async def test_the_properties_of_a_project_name_its_test_cases_and_requirements(results: Results) -> None:
    catalog = results.catalog.being(dataclasses.replace(RITA, project="PROPERTIES"))
    there = Results(catalog)
    await catalog.test_case(external_id="TC-1")
    await catalog.requirement(external_id="SHOP-7")

    async def send(*properties: tuple[str, str]) -> tuple[int, int]:
        """Return how many test cases a result with properties matches, and how many links it makes."""
        said = "".join(f'<property name="{name}" value="{value}"/>' for name, value in properties)
        case = f'<testcase classname="t" name="{catalog.word()}"><properties>{said}</properties></testcase>'
        sent = ok(await there.post(f"<testsuite>{case}</testsuite>".encode(), link=True, dry_run=True))
        return sent["matched"], sent["links_created"]

    assert await send(("Jira", "TC-1"), ("JIRA", "SHOP-7")) == (1, 1), "as the record knows each"
    assert await send(("Ticket", "TC-1"), ("story", "SHOP-7")) == (0, 0)
    wanted = projects.ResultProperties(test_cases=("ticket",), requirements=("Story",))
    await _want(catalog, 11, projects.ProjectSettings(result_properties=wanted), "PROPERTIES")
    assert await send(("Ticket", "tc-1"), ("story", "SHOP-7")) == (1, 1)
    assert await send(("test_case", "TC-1"), ("requirement", "SHOP-7")) == (0, 0)
    nothing = projects.ResultProperties(test_cases=(), requirements=None)
    await _want(catalog, 12, projects.ProjectSettings(result_properties=nothing), "PROPERTIES")
    assert await send(("test_case", "TC-1")) == (0, 0)
