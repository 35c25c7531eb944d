"""What only an empty record shows exactly: sums over everything, crossings of a threshold, the last admin.

Each part starts a Traceline of its own.
"""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from acceptance import texts
from acceptance.client import Traceline, ok, problem
from acceptance.process import RunningTraceline, fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.waiting import eventually


@pytest.fixture(scope="module")
def server(unused: Path) -> Iterator[RunningTraceline]:
    with (
        fresh_folder(unused) as place,
        RunningTraceline(place, AUTO_SUGGESTIONS_ENABLED="false", COVERAGE_REST_SECONDS="0") as running,
    ):
        yield running


@pytest.fixture(scope="module")
def admin(server: RunningTraceline) -> Iterator[Traceline]:
    with Traceline(server.base_url) as client:
        yield client.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)


def test_an_empty_record_has_empty_reports(admin: Traceline) -> None:
    summary = admin.read("/reports/traceability-matrix")["summary"]
    assert summary["total_requirements"] == summary["total_links"] == summary["total_test_cases"] == 0
    assert 0 <= summary["coverage"] <= 1
    assert admin.read("/reports/coverage-by-module")["items"] == []
    assert admin.generate()["suggestions_created"] == 0
    for path in ("/reports/gaps", "/search?q=door", "/analytics/suggestion-performance", "/suggestions"):
        ok(admin.get(path))


def test_a_drop_of_coverage_is_told_once_to_reviewers_and_admins(admin: Traceline) -> None:
    author, viewer = admin.new_user("reviewer"), admin.new_user("viewer")
    told = [author, admin]
    test_case_id = author.create_test_case()["id"]

    def drops(user: Traceline) -> int:
        return sum(item["type"] == "coverage_drop" for item in user.items("/notifications"))

    def settled() -> None:
        """Wait until something that was done after everything else has arrived."""
        last = author.create_test_case()["id"]
        eventually(
            lambda: last in json.dumps(author.read("/notifications", limit=100)["items"]),
            "the notification of what was done last",
        )

    for made in [author.create_requirement() for _ in range(10)]:
        author.create_link(made["id"], test_case_id)
    settled()
    before = [drops(user) for user in told]

    def new_drops() -> list[int]:
        return [drops(user) - count for user, count in zip(told, before, strict=True)]

    uncovered = [author.create_requirement()["id"] for _ in range(2)]  # 10 of 12: still above 0.8
    settled()
    assert new_drops() == [0, 0]
    uncovered.append(author.create_requirement()["id"])  # 10 of 13
    eventually(lambda: new_drops() == [1, 1], "the first drop")
    uncovered.append(author.create_requirement()["id"])  # lower still
    settled()
    assert new_drops() == [1, 1]
    links = [author.create_link(made, test_case_id) for made in uncovered[:2]]  # 12 of 14: above again
    settled()
    for link in links:
        assert author.delete(f"/links/{link['id']}").status_code == 204
    eventually(lambda: new_drops() == [2, 2], "the second drop")
    settled()
    assert new_drops() == [2, 2]
    assert drops(viewer) == 0


def test_the_matrix_sums_up_everything(admin: Traceline) -> None:
    requirements, test_cases = admin.items("/requirements"), admin.items("/test-cases")
    links = admin.items("/links")
    admin.create_test_case()
    summary = admin.read("/reports/traceability-matrix")["summary"]
    covered = {link["requirement_id"] for link in links}
    assert summary == summary | {
        "total_requirements": len(requirements),
        "covered_requirements": len(covered),
        "uncovered_requirements": len(requirements) - len(covered),
        "coverage": pytest.approx(len(covered) / len(requirements), abs=1e-4),
        "total_test_cases": len(test_cases) + 1,
        "orphan_test_cases": len(test_cases) + 1 - len({link["test_case_id"] for link in links}),
        "total_links": len(links),
        "suspect_links": 0,
    }


def test_coverage_by_module_has_a_row_for_no_module_and_one_for_all(admin: Traceline) -> None:
    admin.create_requirement(module="pumps")
    linked = admin.create_requirement(module="pumps")
    admin.create_link(linked["id"], admin.create_test_case()["id"])
    summary = admin.read("/reports/traceability-matrix")["summary"]
    report = admin.read("/reports/coverage-by-module")
    rows = {row["module"]: row for row in report["items"]}
    assert set(rows) == {None, "pumps"}
    assert rows["pumps"]["coverage"] == 0.5
    assert sum(row["total_requirements"] for row in rows.values()) == summary["total_requirements"]
    assert report["overall"]["coverage"] == summary["coverage"]
    assert report["overall"]["total_requirements"] == summary["total_requirements"]


def test_the_gaps_are_what_has_no_link_and_what_is_suspect(admin: Traceline) -> None:
    lonely, suspect = admin.create_requirement(), admin.create_requirement()
    orphan, linked = admin.create_test_case(), admin.create_test_case()
    link = admin.create_link(suspect["id"], linked["id"])
    ok(admin.patch(f"/requirements/{suspect['id']}", json={"title": texts.words(2)}))
    gaps = json.dumps(admin.read("/reports/gaps"))
    for item in (lonely, orphan, link):
        assert item["id"] in gaps
    ok(admin.post(f"/links/{link['id']}/confirm"))
    admin.create_link(lonely["id"], orphan["id"])
    gaps = json.dumps(admin.read("/reports/gaps"))
    for item in (lonely, orphan, link):
        assert item["id"] not in gaps


def test_with_automatic_suggestions_off_only_generation_makes_them(admin: Traceline) -> None:
    requirement, test_case = admin.create_pair()
    eventually(
        lambda: test_case["id"] in json.dumps(admin.read("/notifications", limit=100)["items"]),
        "the notification of the test case",
    )
    assert admin.suggestions_for(requirement["id"], test_case["id"]) == []
    admin.generate()
    assert len(admin.suggestions_for(requirement["id"], test_case["id"])) == 1


def test_a_threshold_of_0_is_0_and_not_the_default(admin: Traceline) -> None:
    word = texts.word()
    requirement = admin.create_requirement(description=f"{word} {texts.words(12)}")
    test_case = admin.create_test_case(description=f"{word} {texts.words(12)}")
    admin.generate()
    assert admin.suggestions_for(requirement["id"], test_case["id"]) == [], "too weak for the default"
    run = admin.generate(threshold=0)
    assert run["threshold"] == 0
    (found,) = admin.suggestions_for(requirement["id"], test_case["id"])
    assert 0 < found["similarity_score"] < 0.3


def test_a_threshold_of_1_leaves_what_is_the_same(admin: Traceline) -> None:
    requirement, test_case = admin.create_pair()
    run = admin.generate(threshold=1)
    found = admin.suggestions_for(requirement["id"], test_case["id"])
    assert [suggestion["similarity_score"] for suggestion in found] == [1.0]
    assert run["suggestions_created"] == 1


@pytest.mark.parametrize(
    ("algorithm", "method"),
    [("tfidf", "semantic_similarity"), ("keyword", "keyword_match"), ("hybrid", "hybrid")],
)
def test_the_score_can_be_computed_again_from_its_components(admin: Traceline, algorithm: str, method: str) -> None:
    text = texts.words(6)
    module = texts.word()
    requirement = admin.create_requirement(title=text, description=texts.words(2), module=module)
    test_case = admin.create_test_case(title=text, description=texts.words(1), module=module)
    admin.generate(algorithm=algorithm, threshold=0.2)
    (found,) = admin.suggestions_for(requirement["id"], test_case["id"])
    assert found["suggestion_method"] == method
    metadata = found["suggestion_metadata"]
    assert metadata["algorithm"] == algorithm
    components = metadata["components"]
    parts = components.values() if isinstance(components, dict) else components
    score = sum(part["score"] * part["weight"] for part in parts)
    assert found["similarity_score"] == pytest.approx(min(score, 1.0), abs=1e-5)
    matched = json.dumps(metadata["matched_terms"])
    assert any(word[:6] in matched for word in text.split())
    assert found["suggestion_reason"]


def test_analytics_count_what_was_reviewed(admin: Traceline) -> None:
    for action in ("accept", "accept", "accept", "reject"):
        ok(admin.post(f"/suggestions/{admin.suggested_pair()['id']}/{action}"))
    everything = admin.items("/suggestions", status="pending,accepted,rejected,expired")
    counts = {
        status: sum(suggestion["status"] == status for suggestion in everything)
        for status in ("pending", "accepted", "rejected", "expired")
    }
    report = admin.read("/analytics/suggestion-performance")
    assert {status: report["totals"][status] for status in counts} == counts
    rate = counts["accepted"] / (counts["accepted"] + counts["rejected"])
    assert report["acceptance_rate"] == pytest.approx(rate, abs=1e-4)
    for part in ("semantic_similarity", "very_high"):
        assert part in json.dumps(report)


def test_the_last_admin_stays(admin: Traceline) -> None:
    me = f"/users/{admin.me()['id']}"
    for change in ({"role": "viewer"}, {"role": "reviewer"}, {"is_active": False}):
        problem(admin.patch(me, json=change), 409, "last_admin")
    problem(admin.delete(me), 409, "last_admin")
    assert admin.me()["role"] == "admin"
    ok(admin.patch(me, json={"full_name": "The only one"}))


def test_two_admins_cannot_demote_one_another_at_once(admin: Traceline) -> None:
    other = admin.new_user("admin")
    paths = {user: f"/users/{user.me()['id']}" for user in (admin, other)}
    for _ in range(3):
        with ThreadPoolExecutor(2) as pool:
            answers = [
                pool.submit(admin.patch, paths[other], json={"role": "viewer"}),
                pool.submit(other.patch, paths[admin], json={"role": "viewer"}),
            ]
        assert sorted(answer.result().status_code for answer in answers)[0] == 200
        roles = {user: user.me()["role"] for user in (admin, other)}
        assert sorted(roles.values()) == ["admin", "viewer"], "nobody is left to administer"
        (left,) = (user for user, role in roles.items() if role == "admin")
        (gone,) = (user for user, role in roles.items() if role == "viewer")
        eventually(lambda user=gone: user.get("/users").status_code == 403, "the demotion", seconds=2)  # type: ignore[misc]
        ok(left.patch(paths[gone], json={"role": "admin"}))
        eventually(lambda user=gone: user.get("/users").status_code == 200, "the return", seconds=2)  # type: ignore[misc]
    assert admin.delete(paths[other]).status_code == 204


def test_after_fifty_failures_an_address_has_to_wait(admin: Traceline) -> None:
    """The last one here: this address is then shut out."""
    visitor = admin.with_token(None)
    for _ in range(50):
        if visitor.login(texts.email(), "not this one").status_code == 429:
            break
    response = visitor.login(texts.email(), "not this one")
    problem(response, 429)
    assert int(response.headers["retry-after"]) > 0
