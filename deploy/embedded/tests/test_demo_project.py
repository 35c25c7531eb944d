"""The demo project as files: every item is one that the API accepts, and there is something left to do."""

from collections import Counter

import pytest

from embedded.demo.project import DemoProject, Json, read_project

PRIORITIES = {"critical", "high", "medium", "low"}
ENUMERATIONS = {
    "requirements": {
        "type": {"functional", "non_functional", "technical"},
        "priority": PRIORITIES,
        "status": {"draft", "approved", "implemented", "tested", "closed"},
    },
    "test_cases": {
        "type": {"functional", "integration", "performance", "security", "ui", "regression"},
        "priority": PRIORITIES,
        "status": {"draft", "ready", "executing", "passed", "failed", "blocked", "deprecated"},
        "automation_status": {"manual", "automated", "automatable"},
    },
}
LINK_TYPES = {"covers", "verifies", "validates", "related"}
SHARED_FIELDS = {
    "external_id",
    "title",
    "description",
    "type",
    "priority",
    "status",
    "module",
    "tags",
    "custom_metadata",
    "source_system",
    "source_url",
    "created_by",
}
FIELDS = {
    "requirements": SHARED_FIELDS,
    "test_cases": SHARED_FIELDS
    | {
        "steps",
        "preconditions",
        "postconditions",
        "test_data",
        "automation_status",
        "execution_time_minutes",
    },
}
LONGEST = {"external_id": 100, "title": 500, "module": 100, "source_system": 50, "created_by": 100}
SIDES = ("requirements", "test_cases")


@pytest.fixture(scope="module")
def project() -> DemoProject:
    return read_project()


def external_ids(items: list[Json]) -> set[str]:
    return {item["external_id"] for item in items}


def pairs(links: list[Json]) -> list[tuple[str, str]]:
    return [(link["requirement"], link["test_case"]) for link in links]


def test_the_project_has_the_size_of_a_real_product(project: DemoProject) -> None:
    assert 55 <= len(project.requirements) <= 70
    assert 85 <= len(project.test_cases) <= 100
    modules = {item["module"] for item in project.requirements if "module" in item}
    assert 6 <= len(modules) <= 8
    assert {item["module"] for item in project.test_cases if "module" in item} == modules


@pytest.mark.parametrize("side", SIDES)
def test_external_ids_are_unique_and_tell_their_side(project: DemoProject, side: str) -> None:
    items = getattr(project, side)
    assert len(external_ids(items)) == len(items)
    prefix = {"requirements": "REQ-", "test_cases": "TC-"}[side]
    assert all(item["external_id"].startswith(prefix) for item in items)


@pytest.mark.parametrize("side", SIDES)
def test_titles_and_descriptions_are_each_written_once(project: DemoProject, side: str) -> None:
    for field in ("title", "description"):
        texts = Counter(item[field] for item in getattr(project, side))
        assert [text for text, times in texts.items() if times > 1] == []


@pytest.mark.parametrize("side", SIDES)
def test_every_item_has_only_fields_that_the_api_knows(project: DemoProject, side: str) -> None:
    for item in getattr(project, side):
        assert set(item) <= FIELDS[side], item["external_id"]


@pytest.mark.parametrize("side", SIDES)
def test_every_value_of_an_enumeration_is_one_of_the_specification(project: DemoProject, side: str) -> None:
    for item in getattr(project, side):
        for field, allowed in ENUMERATIONS[side].items():
            assert item[field] in allowed, (item["external_id"], field)


@pytest.mark.parametrize("side", SIDES)
def test_texts_are_neither_blank_nor_too_long(project: DemoProject, side: str) -> None:
    for item in getattr(project, side):
        for field in ("external_id", "title", "description"):
            assert item[field].strip() == item[field] != "", (item["external_id"], field)
        for field, limit in LONGEST.items():
            assert len(item.get(field, "")) <= limit, (item["external_id"], field)


@pytest.mark.parametrize("side", SIDES)
def test_tags_and_metadata_have_the_types_of_the_specification(project: DemoProject, side: str) -> None:
    for item in getattr(project, side):
        assert item["tags"], item["external_id"]
        assert all(isinstance(tag, str) for tag in item["tags"]), item["external_id"]
        assert isinstance(item.get("custom_metadata", {}), dict), item["external_id"]


def test_steps_are_numbered_from_one_without_gaps(project: DemoProject) -> None:
    for item in project.test_cases:
        assert list(item["steps"]) == [str(n) for n in range(1, len(item["steps"]) + 1)], item["external_id"]
        assert all(text.strip() for text in item["steps"].values()), item["external_id"]


def test_execution_times_are_whole_minutes(project: DemoProject) -> None:
    minutes = [item["execution_time_minutes"] for item in project.test_cases if "execution_time_minutes" in item]
    assert minutes
    assert all(type(value) is int and value > 0 for value in minutes)


def test_links_join_existing_items_once_each(project: DemoProject) -> None:
    linked = pairs(project.links)
    assert len(set(linked)) == len(linked)
    assert {requirement for requirement, _ in linked} <= external_ids(project.requirements)
    assert {test_case for _, test_case in linked} <= external_ids(project.test_cases)
    assert {link["link_type"] for link in project.links} == LINK_TYPES


def test_coverage_starts_between_40_and_50_percent(project: DemoProject) -> None:
    covered = {requirement for requirement, _ in pairs(project.links)}
    assert 0.4 <= len(covered) / len(project.requirements) <= 0.5


def test_every_module_leaves_gaps_and_some_test_cases_have_no_link(project: DemoProject) -> None:
    covered = {requirement for requirement, _ in pairs(project.links)}
    gaps = [item for item in project.requirements if item["external_id"] not in covered]
    modules = {item["module"] for item in project.requirements if "module" in item}
    assert {item["module"] for item in gaps if "module" in item} == modules
    used = {test_case for _, test_case in pairs(project.links)}
    assert len(external_ids(project.test_cases) - used) >= 10


def test_one_amended_requirement_has_a_confirmed_and_an_unconfirmed_link(project: DemoProject) -> None:
    (amendment,) = project.amendments
    (requirement,) = [r for r in project.requirements if r["external_id"] == amendment["requirement"]]
    assert amendment["description"].strip()
    assert amendment["description"] != requirement["description"]
    made_suspect = {pair for pair in pairs(project.links) if pair[0] == amendment["requirement"]}
    confirmed = set(pairs(project.confirmations))
    assert confirmed < made_suspect
    assert confirmed


def test_ci_has_run_each_automated_test_case_and_tests_of_none(project: DemoProject) -> None:
    named = [test.get("labels", {}).get("test_case") for test in project.runs[0]["attempts"][0]]
    automated = [item["external_id"] for item in project.test_cases if item["automation_status"] == "automated"]
    assert sorted(filter(None, named)) == sorted(automated)
    assert None in named


def test_the_requirement_that_ends_a_load_is_needed_by_nothing_before_it(project: DemoProject) -> None:
    named = {entry["requirement"] for entry in (*project.links, *project.amendments, *project.confirmations)}
    assert project.seal["external_id"] not in named


def test_nights_before_have_run_suites_and_failed_test_cases_that_there_are(project: DemoProject) -> None:
    suites = {test["suite"] for test in project.runs[0]["attempts"][0]}
    automated = {item["external_id"] for item in project.test_cases if item["automation_status"] == "automated"}
    days = [run["days_ago"] for run in project.history]
    assert days == sorted(days, reverse=True), "the oldest first, as CI sends them"
    assert min(days) > 1
    for run in project.history:
        assert set(run["suites"]) <= suites
        assert set(run["failed"]) <= automated
