"""Real projects, loaded over the API, reviewed by what their makers declare, and counted again by hand."""

from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from acceptance import datasets
from acceptance.client import Json, Traceline, ok
from acceptance.datasets import Dataset
from acceptance.process import RunningTraceline, fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD

pytestmark = pytest.mark.requirement("TL-REPT-1", "TL-REPT-2")

THRESHOLD = 0.3
PARTS = 4

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Project:
    """A data set that has been loaded; items are known here by the ids of the files."""

    user: Traceline
    dataset: Dataset
    requirement_ids: dict[str, str]
    test_case_ids: dict[str, str]

    def pair(self, requirement_id: str, test_case_id: str) -> Pair:
        """The pair as the files name it."""
        return self.requirement_ids[requirement_id], self.test_case_ids[test_case_id]


def part(number: int) -> str:
    """The module of the requirement in this row: real projects bring none."""
    return f"part {number % PARTS}"


NOT_RUN = pytest.mark.skip(f"NOT RUN: there are no data sets in {datasets.folder()}")
SETS = [
    pytest.param(name, id=name, marks=[pytest.mark.long] if number else [])
    for number, name in enumerate(datasets.names())
] or [pytest.param("none", marks=NOT_RUN)]


@pytest.fixture(scope="module", params=SETS)
def project(request: pytest.FixtureRequest, unused: Path) -> Iterator[Project]:
    """One data set in a Traceline of its own, every item sent as it is in the files."""
    dataset = datasets.read(request.param)
    with (
        fresh_folder(unused) as place,
        # What the background finds depends on how much has been loaded by then; one generation does not.
        RunningTraceline(place, AUTO_SUGGESTIONS_ENABLED="false") as server,
        Traceline(server.base_url) as client,
    ):
        user = client.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)

        def load(job: tuple[str, int, datasets.Item]) -> tuple[str, str]:
            side, number, item = job
            fields = {"external_id": item.id, "title": item.title, "description": item.description}
            if side == "requirement":
                made = user.create_requirement(**fields, module=part(number))
            else:
                made = user.create_test_case(**fields)
            assert (made["title"], made["description"]) == (item.title, item.description)
            return made["id"], item.id

        with ThreadPoolExecutor(4) as pool:
            sides = [
                dict(pool.map(load, [(side, number, item) for number, item in enumerate(items)]))
                for side, items in (("requirement", dataset.requirements), ("test case", dataset.test_cases))
            ]
        yield Project(user, dataset, *sides)


def test_a_real_project_is_covered_as_far_as_its_suggestions_were_right(project: Project) -> None:
    user, dataset = project.user, project.dataset
    run = user.generate(algorithm="tfidf", threshold=THRESHOLD)
    assert run["pairs_analyzed"] == len(dataset.requirements) * len(dataset.test_cases)
    suggestions = user.items("/suggestions", status="pending", limit=500)
    assert run["suggestions_created"] == len(suggestions)
    every_suggestion_is_sound(project, suggestions)

    accepted = accept_the_right_ones(project, suggestions)
    every_link_is_an_accepted_suggestion(project, suggestions, accepted)
    the_matrix_says_the_same(project, accepted)
    the_coverage_by_module_says_the_same(project, accepted)
    the_lists_say_the_same(project, accepted)


def every_suggestion_is_sound(project: Project, suggestions: list[Json]) -> None:
    pairs = [project.pair(item["requirement_id"], item["test_case_id"]) for item in suggestions]
    assert len(pairs) == len(set(pairs)), "a pair is suggested twice"
    for item in suggestions:
        assert THRESHOLD <= item["similarity_score"] <= 1.0
        assert item["suggestion_reason"]
    gold = project.dataset.links
    found = len(gold & set(pairs))
    by_chance = len(pairs) * len(gold) / (len(project.requirement_ids) * len(project.test_case_ids))
    assert found > 3 * by_chance, "no better than guessing"


def accept_the_right_ones(project: Project, suggestions: list[Json]) -> set[Pair]:
    """Accept every suggestion that the makers of the project have as a link; return those pairs."""
    right = {
        item["id"]: pair
        for item in suggestions
        if (pair := project.pair(item["requirement_id"], item["test_case_id"])) in project.dataset.links
    }
    assert right
    ids = list(right)
    for start in range(0, len(ids), 500):
        chunk = ids[start : start + 500]
        body = {"action": "accept", "ids": chunk, "feedback": "as its makers say"}
        answers = ok(project.user.post("/suggestions/bulk-review", json=body))["items"]
        assert [answer["id"] for answer in answers] == chunk
    return set(right.values())


def every_link_is_an_accepted_suggestion(project: Project, suggestions: list[Json], accepted: set[Pair]) -> None:
    scores = {
        project.pair(item["requirement_id"], item["test_case_id"]): item["similarity_score"] for item in suggestions
    }
    links = project.user.items("/links", limit=500)
    assert {project.pair(link["requirement_id"], link["test_case_id"]) for link in links} == accepted
    assert len(links) == len(accepted)
    for link in links:
        pair = project.pair(link["requirement_id"], link["test_case_id"])
        assert (link["link_source"], link["confidence_score"]) == ("ai_confirmed", scores[pair])
    left = project.user.items("/suggestions", status="pending", limit=500)
    assert len(left) == len(suggestions) - len(accepted)


def the_matrix_says_the_same(project: Project, accepted: set[Pair]) -> None:
    requirements, test_cases = len(project.dataset.requirements), len(project.dataset.test_cases)
    covered = len({requirement for requirement, _ in accepted})
    pages = list(project.user.pages("/reports/traceability-matrix", limit=100))
    expected = {
        "total_requirements": requirements,
        "covered_requirements": covered,
        "uncovered_requirements": requirements - covered,
        "coverage": pytest.approx(covered / requirements, abs=1e-4),
        "total_test_cases": test_cases,
        "orphan_test_cases": test_cases - len({test_case for _, test_case in accepted}),
        "total_links": len(accepted),
        "suspect_links": 0,
    }
    summary = pages[0]["summary"]
    assert {name: summary[name] for name in expected} == expected
    rows = [row for page in pages for row in page["items"]]
    assert len(rows) == requirements
    assert {(row["external_id"], cell["external_id"]) for row in rows for cell in row["test_cases"]} == accepted


def the_coverage_by_module_says_the_same(project: Project, accepted: set[Pair]) -> None:
    covered = {requirement for requirement, _ in accepted}
    modules = defaultdict(list)
    for number, item in enumerate(project.dataset.requirements):
        modules[part(number)].append(item.id in covered)
    report = project.user.read("/reports/coverage-by-module")
    rows = {row["module"]: row for row in report["items"]}
    for module, states in modules.items():
        assert rows[module]["total_requirements"] == len(states)
        assert rows[module]["covered_requirements"] == sum(states)
        assert rows[module]["coverage"] == pytest.approx(sum(states) / len(states), abs=1e-4)


def the_lists_say_the_same(project: Project, accepted: set[Pair]) -> None:
    user = project.user
    requirements = {item.id for item in project.dataset.requirements}
    covered = {requirement for requirement, _ in accepted}
    found = {item["external_id"] for item in user.items("/requirements", coverage="none", limit=500)}
    assert found == requirements - covered
    found = {item["external_id"] for item in user.items("/test-cases", linked="true", limit=500)}
    assert found == {test_case for _, test_case in accepted}
