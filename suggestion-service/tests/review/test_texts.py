"""`expand=texts`: what both items say, and where the matched terms stand in it; and the reason's measured precision."""

from typing import Any
from uuid import UUID

import pytest

REQUIREMENT = {
    "title": "Déconnexion after 15 minutes",
    "description": "🙂 The user is logged out by De\u0301connexion after 15 minutes.",
    "module": "Sessions",
    "tags": ["déconnexion", "web"],
    "external_id": "REQ-7",
}
TEST_CASE = {
    "title": "Wait for the déconnexion",
    "description": "Nothing is done for 15 minutes.",
    "preconditions": "A user of the web is there",
    "steps": {str(number): f"Wait, {number}" for number in range(1, 11)} | {"2": "See the DÉCONNEXION 🙂 of the user"},
    "postconditions": "The user is logged out",
}


@pytest.fixture
async def pair(service: Any, catalog: Any) -> dict[str, Any]:
    catalog.requirement(**REQUIREMENT)
    catalog.test_case(**TEST_CASE)
    await service.score()
    (found,) = await service.suggestions(expand="texts")
    return dict(found)


def said_at(suggestion: dict[str, Any], span: dict[str, Any]) -> str:
    field: Any = suggestion[span["side"]]
    for name in span["field"].split("."):
        field = field[int(name)] if isinstance(field, list) else field[name]
    return str(field[span["start"] : span["end"]])


async def test_both_texts_stand_in_the_suggestion(service: Any, pair: Any) -> None:
    missing = {"preconditions": None, "steps": None, "postconditions": None}
    for side, item in (("requirement", REQUIREMENT), ("test_case", missing | TEST_CASE)):
        told = {name: value for name, value in pair[side].items() if name in item}
        assert told == item
    assert pair["test_case"]["tags"] == []
    assert pair["requirement"]["priority"] == "medium"
    assert (await service.read(f"/suggestions/{pair['id']}", expand="texts")) == pair


async def test_without_it_a_suggestion_is_short(service: Any, pair: Any) -> None:
    (short,) = await service.suggestions()
    assert "spans" not in short
    assert set(short["requirement"]) == set(short["test_case"]) == {"id", "external_id", "title", "module"}
    assert short["requirement"]["title"] == REQUIREMENT["title"]


async def test_a_test_case_without_steps_has_none(service: Any, catalog: Any) -> None:
    catalog.requirement("the pump stops")
    catalog.test_case("the pump stops")
    await service.score()
    (found,) = await service.suggestions(expand="texts")
    told = found["test_case"]
    assert (told["preconditions"], told["steps"], told["postconditions"]) == (None, None, None)
    assert "steps" not in found["requirement"]


async def test_spans_say_where_each_matched_term_stands(pair: Any) -> None:
    stands = {
        (span["side"], span["field"], said_at(pair, span)) for span in pair["spans"] if span["term"] == "déconnexion"
    }
    assert stands == {
        ("requirement", "title", "Déconnexion"),
        ("requirement", "description", "De\u0301connexion"),
        ("requirement", "tags.0", "déconnexion"),
        ("test_case", "title", "déconnexion"),
        ("test_case", "steps.2", "DÉCONNEXION"),
    }
    minutes = [said_at(pair, span) for span in pair["spans"] if span["term"] == "15 minutes"]
    assert minutes == ["15 minutes"] * 3
    weights = {term["term"]: term["weight"] for term in pair["suggestion_metadata"]["matched_terms"]}
    assert all(weights[span["term"]] == span["weight"] for span in pair["spans"])
    for side in ("requirement", "test_case"):
        assert {span["term"] for span in pair["spans"] if span["side"] == side} == set(weights)


async def test_a_text_that_changed_has_no_stale_places(service: Any, catalog: Any, pair: Any) -> None:
    (test_case_id,) = [item for item, said in catalog.items.items() if "steps" in said]
    catalog.change(test_case_id, title="Look", description="A user waits for 15 minutes", steps=None)
    await service.follow()  # but nothing is scored anew, yet
    (found,) = await service.suggestions(expand="texts")
    assert found["suggestion_metadata"]["calculation"] == pair["suggestion_metadata"]["calculation"]
    assert "A user waits for 15 minutes" in found["suggestion_reason"]
    assert {span["term"] for span in found["spans"]} < {span["term"] for span in pair["spans"]}
    assert "déconnexion" not in {span["term"] for span in found["spans"]}
    assert {said_at(found, span) for span in found["spans"] if span["term"] == "15 minutes"} == {"15 minutes"}


async def test_of_very_long_texts_the_answer_has_some_spans_and_says_so(service: Any, catalog: Any) -> None:
    said = "The door opens. " + " ".join(f"door{number}" for number in range(60_000))
    catalog.requirement("the door", description=said)
    catalog.test_case("the door", description=said)
    await service.score()
    (found,) = await service.suggestions(expand="texts")
    assert found["spans_cut"] is True
    assert {said_at(found, span) for span in found["spans"] if span["term"] == "door"} == {"door"}
    assert 0 < len([span for span in found["spans"] if span["side"] == "requirement"]) <= 1010


async def test_spans_are_whole_otherwise(pair: Any) -> None:
    assert pair["spans_cut"] is False


@pytest.mark.parametrize("path", ["/suggestions", f"/suggestions/{UUID(int=7)}"])
async def test_what_cannot_be_expanded_is_refused(service: Any, path: str) -> None:
    response = await service.http.get(path, params={"expand": "everything"})
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "/query/expand"


async def test_a_suggestion_without_an_explanation_has_no_spans(service: Any, pair: Any) -> None:
    await service.rows("UPDATE suggestions SET suggestion_metadata = NULL")
    (found,) = await service.suggestions(expand="texts")
    assert found["spans"] == []


async def reviewed(service: Any, method: str, score: float, accepted: int, rejected: int) -> None:
    await service.rows(
        "INSERT INTO suggestions (id, requirement_id, test_case_id, similarity_score, suggestion_method, status,"
        " suggestion_metadata, created_at, reviewed_at, requirement_text_sequence, test_case_text_sequence)"
        " SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), %s, %s,"
        " CASE WHEN n <= %s THEN 'accepted' ELSE 'rejected' END, '{\"calculation\": {}}', now(), now(), 1, 1"
        " FROM generate_series(1, %s) AS n",
        *(score, method, accepted, accepted + rejected),
    )


async def test_the_reason_says_how_right_its_band_was(service: Any, pair: Any) -> None:
    await service.rows("UPDATE suggestions SET similarity_score = 0.8")
    (before,) = await service.suggestions()
    stored = before["suggestion_reason"]
    await reviewed(service, "hybrid", 0.8, 15, 4)
    await reviewed(service, "hybrid", 0.95, 30, 0)
    assert (await service.suggestions(status="pending"))[0]["suggestion_reason"] == stored, "19 say little"
    await reviewed(service, "hybrid", 0.76, 0, 1)
    (told,) = await service.suggestions(status="pending")
    assert told["suggestion_reason"] == f"{stored} Of 20 reviewed suggestions in this band 15 were accepted."
    assert (await service.read(f"/suggestions/{pair['id']}"))["suggestion_reason"] == told["suggestion_reason"]
    await service.rows("UPDATE suggestions SET suggestion_metadata = '{}' WHERE status <> 'pending'")
    assert (await service.suggestions(status="pending"))[0]["suggestion_reason"] == stored, "of a scale of before"
