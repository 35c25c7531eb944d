"""Suggestions: found, explained, accepted, rejected, and not made twice."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from acceptance import texts
from acceptance.client import Json, Traceline, ok, problem
from acceptance.waiting import eventually

UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def suggestion(reviewer: Traceline) -> Json:
    return reviewer.suggested_pair()


def pair_of(suggestion: Json) -> dict[str, str]:
    return {name: suggestion[name] for name in ("requirement_id", "test_case_id")}


def links_of(user: Traceline, suggestion: Json) -> list[Json]:
    return user.items("/links", **pair_of(suggestion))


def test_what_matches_is_found_at_once_after_its_creation(reviewer: Traceline) -> None:
    requirement, test_case = reviewer.create_pair()
    run = reviewer.generate()
    assert run["algorithm"] == "tfidf"
    (found,) = reviewer.suggestions_for(requirement["id"], test_case["id"])
    assert found["status"] == "pending"
    assert 0.3 <= found["similarity_score"] <= 1.0
    assert found["suggestion_method"] == "semantic_similarity"


def test_a_suggestion_shows_its_items_and_its_reason(reviewer: Traceline) -> None:
    text = {"title": "the pump stops", "description": texts.words(8), "module": "pumps"}
    requirement, test_case = reviewer.create_pair(**text, external_id=texts.word())
    reviewer.generate()
    (found,) = reviewer.suggestions_for(requirement["id"], test_case["id"])
    for name, item in (("requirement", requirement), ("test_case", test_case)):
        assert found[name] == {part: item[part] for part in ("id", "external_id", "title", "module")}
    assert found["band"] is None, "a cosine has none"
    assert found["created_at"].endswith("Z")
    assert (found["reviewed_at"], found["reviewed_by"], found["feedback"]) == (None, None, None)
    assert any(word in found["suggestion_reason"] for word in text["description"].split())
    assert ok(reviewer.get(f"/suggestions/{found['id']}")) == found


def test_the_band_follows_the_score_of_hybrid(reviewer: Traceline) -> None:
    reviewer.create_pair(title=texts.words(4), description=texts.words(10))
    reviewer.generate(algorithm="hybrid")
    bands = [(0.9, "very_high"), (0.75, "high"), (0.6, "moderate"), (0.0, "low")]
    for found in reviewer.read("/suggestions", limit=500)["items"]:
        band = next(name for least, name in bands if found["similarity_score"] >= least)
        assert found["band"] == (band if found["suggestion_method"] == "hybrid" else None), found["similarity_score"]


def test_identical_texts_score_1_at_most(reviewer: Traceline) -> None:
    suggestion = reviewer.suggested_pair()
    assert 0.999 <= suggestion["similarity_score"] <= 1.0
    assert round(suggestion["similarity_score"], 6) == suggestion["similarity_score"]


def test_accepting_makes_a_link_that_can_be_read_at_once(reviewer: Traceline, suggestion: Json) -> None:
    accepted = ok(reviewer.post(f"/suggestions/{suggestion['id']}/accept", json={"feedback": "Clear"}))
    assert accepted["status"] == "accepted"
    assert accepted["feedback"] == "Clear"
    assert accepted["reviewed_by"] == reviewer.me()["email"]
    assert accepted["reviewed_at"].endswith("Z")
    link = ok(reviewer.get(f"/links/{accepted['link_id']}"))
    assert pair_of(link) == pair_of(suggestion)
    assert link["link_source"] == "ai_confirmed"
    assert link["link_type"] == "covers"
    assert link["confidence_score"] == suggestion["similarity_score"]
    assert link["created_by"] == reviewer.me()["email"]
    assert link["confirmed_by"] == reviewer.me()["email"]
    assert link["confirmed_at"].endswith("Z")
    assert link["suspect"] is False
    stored = ok(reviewer.get(f"/suggestions/{suggestion['id']}"))
    assert stored == accepted


def test_accepting_needs_no_body_and_may_choose_the_type(reviewer: Traceline) -> None:
    first, second = reviewer.suggested_pair(), reviewer.suggested_pair()
    ok(reviewer.post(f"/suggestions/{first['id']}/accept"))
    accepted = ok(reviewer.post(f"/suggestions/{second['id']}/accept", json={"link_type": "validates"}))
    assert reviewer.read(f"/links/{accepted['link_id']}")["link_type"] == "validates"


def test_a_wrong_link_type_accepts_nothing(reviewer: Traceline, suggestion: Json) -> None:
    path = f"/suggestions/{suggestion['id']}"
    problem(reviewer.post(f"{path}/accept", json={"link_type": "guesses"}), 422, field="link_type")
    assert reviewer.read(path)["status"] == "pending"
    assert links_of(reviewer, suggestion) == []


def test_a_second_review_is_refused_and_there_is_still_one_link(reviewer: Traceline, suggestion: Json) -> None:
    path = f"/suggestions/{suggestion['id']}"
    ok(reviewer.post(f"{path}/accept"))
    problem(reviewer.post(f"{path}/accept"), 409, "suggestion_not_pending")
    problem(reviewer.post(f"{path}/reject"), 409, "suggestion_not_pending")
    assert len(links_of(reviewer, suggestion)) == 1
    assert reviewer.read(path)["status"] == "accepted"


def test_of_many_reviews_at_once_one_wins(reviewer: Traceline, suggestion: Json) -> None:
    path = f"/suggestions/{suggestion['id']}"
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: reviewer.post(f"{path}/accept"), range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7
    assert len(links_of(reviewer, suggestion)) == 1


def test_accepting_and_rejecting_at_once_end_in_one_of_the_two(reviewer: Traceline) -> None:
    suggestions = [reviewer.suggested_pair() for _ in range(4)]

    def review(job: tuple[Json, str]) -> int:
        return reviewer.post(f"/suggestions/{job[0]['id']}/{job[1]}").status_code

    for suggestion in suggestions:
        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(review, [(suggestion, "accept"), (suggestion, "reject")]))
        assert sorted(answers) == [200, 409]
        status = reviewer.read(f"/suggestions/{suggestion['id']}")["status"]
        assert status == ("accepted" if answers[0] == 200 else "rejected")
        assert len(links_of(reviewer, suggestion)) == (status == "accepted")


def test_rejecting_makes_no_link(reviewer: Traceline, suggestion: Json) -> None:
    path = f"/suggestions/{suggestion['id']}"
    rejected = ok(reviewer.post(f"{path}/reject", json={"feedback": "Another pump"}))
    assert rejected["status"] == "rejected"
    assert rejected["feedback"] == "Another pump"
    assert rejected["reviewed_by"] == reviewer.me()["email"]
    assert rejected["reviewed_at"].endswith("Z")
    assert links_of(reviewer, suggestion) == []
    problem(reviewer.post(f"{path}/accept"), 409, "suggestion_not_pending")


def test_a_suggestion_that_does_not_exist_is_not_found(reviewer: Traceline) -> None:
    problem(reviewer.get(f"/suggestions/{UNKNOWN}"), 404)
    problem(reviewer.post(f"/suggestions/{UNKNOWN}/accept"), 404)
    problem(reviewer.post(f"/suggestions/{UNKNOWN}/reject"), 404)


def test_a_rejected_pair_stays_away_until_a_text_changes(reviewer: Traceline, suggestion: Json) -> None:
    pair = pair_of(suggestion)
    ok(reviewer.post(f"/suggestions/{suggestion['id']}/reject"))
    ok(reviewer.patch(f"/requirements/{pair['requirement_id']}", json={"tags": ["x"], "status": "approved"}))
    reviewer.generate()
    assert [found["status"] for found in reviewer.suggestions_for(**pair)] == ["rejected"]
    title = f"{suggestion['requirement']['title']} {texts.word()}"
    ok(reviewer.patch(f"/requirements/{pair['requirement_id']}", json={"title": title}))
    reviewer.generate()
    (again,) = reviewer.suggestions_for(**pair, status="pending")
    assert again["similarity_score"] < suggestion["similarity_score"]


def test_an_accepted_pair_stays_away_when_its_link_is_deleted(reviewer: Traceline, suggestion: Json) -> None:
    accepted = ok(reviewer.post(f"/suggestions/{suggestion['id']}/accept"))
    assert reviewer.delete(f"/links/{accepted['link_id']}").status_code == 204
    reviewer.generate()
    assert reviewer.suggestions_for(**pair_of(suggestion), status="pending") == []


def test_a_pair_has_one_pending_suggestion_and_a_new_text_gives_it_a_new_score(
    reviewer: Traceline, suggestion: Json
) -> None:
    pair = pair_of(suggestion)
    reviewer.generate()
    reviewer.generate(threshold=0.05)
    assert [found["id"] for found in reviewer.suggestions_for(**pair)] == [suggestion["id"]]
    title = f"{suggestion['requirement']['title']} {texts.words(3)}"
    ok(reviewer.patch(f"/requirements/{pair['requirement_id']}", json={"title": title}))
    reviewer.generate()
    (found,) = reviewer.suggestions_for(**pair)
    assert (found["id"], found["status"]) == (suggestion["id"], "pending")
    assert found["similarity_score"] < suggestion["similarity_score"]
    assert found["requirement"]["title"] == title


def test_a_link_made_by_hand_takes_the_pair_out_of_the_queue(reviewer: Traceline, suggestion: Json) -> None:
    reviewer.create_link(**pair_of(suggestion))
    path = f"/suggestions/{suggestion['id']}"
    eventually(lambda: reviewer.read(path)["status"] == "expired", "the suggestion leaves the queue")
    assert reviewer.read(path)["feedback"]
    assert reviewer.suggestions_for(**pair_of(suggestion)) == [], "expired ones are left out"
    assert len(reviewer.suggestions_for(**pair_of(suggestion), status="expired")) == 1
    problem(reviewer.post(f"{path}/accept"), 409)
    reviewer.generate()
    assert reviewer.suggestions_for(**pair_of(suggestion), status="pending") == []
    assert len(links_of(reviewer, suggestion)) == 1


def test_a_pair_whose_link_is_gone_comes_back_when_a_text_changes(reviewer: Traceline, suggestion: Json) -> None:
    pair = pair_of(suggestion)
    link = reviewer.create_link(**pair)
    reviewer.generate()
    assert reviewer.delete(f"/links/{link['id']}").status_code == 204
    reviewer.generate()
    assert reviewer.suggestions_for(**pair) == []
    test_case = reviewer.read(f"/test-cases/{pair['test_case_id']}")
    description = f"{test_case['description']} {texts.word()}"
    ok(reviewer.patch(f"/test-cases/{pair['test_case_id']}", json={"description": description}))
    reviewer.generate()
    assert [found["status"] for found in reviewer.suggestions_for(**pair)] == ["pending"]


def test_accepting_a_pair_that_has_just_been_linked_is_refused(reviewer: Traceline, suggestion: Json) -> None:
    reviewer.create_link(**pair_of(suggestion))
    problem(reviewer.post(f"/suggestions/{suggestion['id']}/accept"), 409)
    (link,) = links_of(reviewer, suggestion)
    assert link["link_source"] == "manual"


@pytest.mark.parametrize("side", ["requirements", "test-cases"])
def test_accepting_a_pair_whose_item_has_just_been_deleted_is_refused(
    reviewer: Traceline, suggestion: Json, side: str
) -> None:
    item_id = suggestion["requirement_id" if side == "requirements" else "test_case_id"]
    assert reviewer.delete(f"/{side}/{item_id}").status_code == 204
    problem(reviewer.post(f"/suggestions/{suggestion['id']}/accept"), {404, 409})
    assert links_of(reviewer, suggestion) == []


@pytest.mark.parametrize("later", ["requirement", "test case"])
def test_suggestions_appear_without_being_asked_for(reviewer: Traceline, later: str) -> None:
    text = {"title": texts.words(4), "description": texts.words(8)}
    if later == "requirement":
        test_case, requirement = reviewer.create_test_case(**text), reviewer.create_requirement(**text)
    else:
        requirement, test_case = reviewer.create_requirement(**text), reviewer.create_test_case(**text)
    (found,) = eventually(
        lambda: reviewer.suggestions_for(requirement["id"], test_case["id"]), "a suggestion by itself"
    )
    assert found["status"] == "pending"


def test_an_update_brings_suggestions_without_being_asked_for(reviewer: Traceline) -> None:
    requirement, test_case = reviewer.create_requirement(), reviewer.create_test_case()
    text = {"title": requirement["title"], "description": requirement["description"]}
    ok(reviewer.patch(f"/test-cases/{test_case['id']}", json=text))
    eventually(lambda: reviewer.suggestions_for(requirement["id"], test_case["id"]), "a suggestion by itself")


def test_suggestions_are_filtered_and_sorted(reviewer: Traceline) -> None:
    title, description = texts.words(4), texts.words(8)
    requirement = reviewer.create_requirement(title=title, description=description)
    same = reviewer.create_test_case(title=title, description=description)
    similar = reviewer.create_test_case(title=title, description=f"{description} {texts.words(5)}")
    reviewer.generate()

    def found(**filters: object) -> list[str]:
        items = reviewer.items("/suggestions", **{"requirement_id": requirement["id"]} | filters)
        return [item["test_case_id"] for item in items]

    assert found(sort="score:desc") == [same["id"], similar["id"]]
    assert found(sort="score:asc") == [similar["id"], same["id"]]
    assert found(sort="score:desc", limit=1) == [same["id"], similar["id"]]
    assert found(min_score=0.99) == [same["id"]]
    assert found(max_score=0.99) == [similar["id"]]
    assert found(test_case_id=similar["id"]) == [similar["id"]]
    assert set(found(method="semantic_similarity")) == {same["id"], similar["id"]}
    assert found(method="hybrid,keyword_match") == []
    assert found(method="!semantic_similarity") == []
    assert set(found(search=title.split()[0])) == {same["id"], similar["id"]}
    assert found(search=texts.word()) == []
    assert set(found(status="pending,accepted")) == {same["id"], similar["id"]}
    assert found(status="!pending") == []


@pytest.mark.parametrize(
    "params",
    [
        {"status": "maybe"},
        {"method": "magic"},
        {"sort": "reason:asc"},
        {"min_score": "1.1"},
        {"min_score": "nan"},
        {"max_score": "-0.1"},
        {"requirement_id": "x"},
        {"test_case_id": "x"},
    ],
)
def test_a_filter_out_of_its_values_is_refused(viewer: Traceline, params: dict[str, str]) -> None:
    problem(viewer.get("/suggestions", params=params), 422, field=next(iter(params)))


def bulk(user: Traceline, action: str, **body: object) -> list[Json]:
    answers = ok(user.post("/suggestions/bulk-review", json={"action": action} | body))["items"]
    assert isinstance(answers, list)
    return answers


def test_many_are_reviewed_at_once_and_answered_in_order(reviewer: Traceline) -> None:
    first, second, third = (reviewer.suggested_pair()["id"] for _ in range(3))
    ok(reviewer.post(f"/suggestions/{second}/reject"))
    ids = [third, UNKNOWN, second, first, third]
    answers = bulk(reviewer, "accept", ids=ids, feedback="All fine", link_type="verifies")
    assert [answer["id"] for answer in answers] == ids
    assert [reviewer.read(f"/suggestions/{id_}")["status"] for id_ in (first, second, third)] == [
        "accepted",
        "rejected",
        "accepted",
    ]
    for id_ in (first, third):
        suggestion = reviewer.read(f"/suggestions/{id_}")
        assert suggestion["feedback"] == "All fine"
        (link,) = links_of(reviewer, suggestion)
        assert (link["link_type"], link["link_source"]) == ("verifies", "ai_confirmed")


def test_many_are_rejected_by_a_filter(reviewer: Traceline) -> None:
    suggestion = reviewer.suggested_pair()
    other = reviewer.suggested_pair()
    filters = {"requirement_id": suggestion["requirement_id"], "min_score": 0.5}
    counted = ok(reviewer.post("/suggestions/bulk-review", json={"action": "reject", "filter": filters}))
    assert (counted["dry_run"], counted["count"], counted["reviewed"]) == (True, 1, 0)
    assert [item["id"] for item in counted["items"]] == [suggestion["id"]]
    body = {"action": "reject", "filter": filters, "expected_count": 2}
    refused = problem(reviewer.post("/suggestions/bulk-review", json=body), 409, "count_changed")
    assert (refused["expected_count"], refused["count"]) == (2, 1)
    assert reviewer.read(f"/suggestions/{suggestion['id']}")["status"] == "pending"
    answers = bulk(reviewer, "reject", filter=filters, expected_count=1)
    assert [answer["id"] for answer in answers] == [suggestion["id"]]
    assert reviewer.read(f"/suggestions/{suggestion['id']}")["status"] == "rejected"
    assert reviewer.read(f"/suggestions/{other['id']}")["status"] == "pending"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"action": "ignore", "ids": []}, "action"),
        ({"ids": [UNKNOWN]}, "action"),
        ({"action": "accept", "ids": [UNKNOWN] * 501}, "ids"),
        ({"action": "accept", "ids": ["x"]}, "ids"),
        ({"action": "accept", "ids": "all"}, "ids"),
        ({"action": "accept", "filter": {"status": "maybe"}}, "status"),
        ({"action": "accept", "filter": {"min_scroe": 0.9}}, "min_scroe"),
        ({"action": "reject", "filter": {}, "expected_count": 1}, "filter"),
        ({"action": "accept", "ids": [UNKNOWN], "link_type": "guesses"}, "link_type"),
        ({"action": "accept"}, ""),
    ],
)
def test_a_bulk_review_that_makes_no_sense_is_refused(reviewer: Traceline, body: Json, field: str) -> None:
    problem(reviewer.post("/suggestions/bulk-review", json=body), 422, field=field)


def test_the_performance_of_suggestions_is_a_report(viewer: Traceline) -> None:
    assert viewer.read("/analytics/suggestion-performance")
