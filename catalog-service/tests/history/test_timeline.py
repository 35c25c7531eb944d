"""The timeline of an item tells of its versions, its links, what was rejected, and results that turned."""

import uuid
from typing import Any

import pytest

from catalog_service.handlers import HANDLERS
from chassis.messaging.events import Actor, NewEvent, sequenced
from chassis.messaging.inbox import Inbox
from contracts.routes import ignored_by
from contracts.suggestion import SuggestionReviewed, SuggestionsBulkReviewed
from testing import factories
from testing.service import Json, ok, problem

UNKNOWN = "00000000-0000-4000-8000-000000000000"
KIM = Actor(7, "kim@example.test")


async def entries(catalog: Any, item: Json, path: str = "requirements", **query: Any) -> list[Json]:
    """Return the whole timeline of an item, the newest first, read two entries at a time."""
    found: list[Json] = []
    after: Json = {}
    while True:
        page = await catalog.read(f"/{path}/{item['id']}/timeline", limit=2, **after, **query)
        found += page["items"]
        if page["next_after"] is None:
            assert page["total"] == len(found)
            return found
        after = {"after": page["next_after"]}


def kinds(found: list[Json]) -> list[str]:
    return [entry["kind"] for entry in found]


async def test_a_link_is_told_of_from_when_it_was_made_until_it_was_removed(catalog: Any) -> None:
    requirement = await catalog.requirement(title="Doors close")
    test_case = await catalog.test_case(external_id=f"TC-{catalog.word()}")
    link = await catalog.link(requirement, test_case, notes="Agreed")
    await catalog.patch(f"/requirements/{requirement['id']}", {"title": "Doors close at once"})
    await catalog.patch(f"/test-cases/{test_case['id']}", {"description": "Look at the doors"})
    await catalog.post(f"/links/{link['id']}/confirm")
    await catalog.patch(f"/requirements/{requirement['id']}", {"tags": ["x"]})
    await catalog.patch(f"/links/{link['id']}", {"notes": "Agreed again"})
    await catalog.delete(f"/links/{link['id']}")

    found = await entries(catalog, requirement)

    assert kinds(found) == [
        "link_removed",
        "link_changed",
        "changed",
        "link_confirmed",
        "link_suspected",
        *sorted(["changed", "link_suspected"], reverse=kinds(found)[5] == "link_suspected"),
        "link_made",
        "created",
    ]
    assert {entry["actor"] for entry in found} == {catalog.email}
    made, (by_test_case, by_requirement) = found[-2], [one for one in found if one["kind"] == "link_suspected"]
    assert (made["note"], made["link_source"], made["item"]["title"]) == ("Agreed", "manual", test_case["title"])
    assert (by_test_case["suspected_by"], by_test_case["version"]) == ("test_case", 2)
    assert (by_requirement["suspected_by"], by_requirement["fields"]) == ("requirement", ["title"])
    assert found[1]["changes"] == {"notes": {"before": "Agreed", "after": "Agreed again"}}
    assert {entry["item"]["external_id"] for entry in found if entry["link_id"]} == {test_case["external_id"]}
    (version,) = [
        entry
        for entry in found
        if entry["version"] == 2 and entry["kind"] == "changed" and entry["coarse"] == [] and entry["differences"]
    ]
    assert version["differences"] == {
        "title": [{"op": "equal", "text": "Doors close"}, {"op": "insert", "text": " at once"}]
    }
    of_test_case = await entries(catalog, test_case, "test-cases", show="links")
    assert kinds(of_test_case) == [kind for kind in kinds(found) if kind.startswith("link")]
    await catalog.delete(f"/requirements/{requirement['id']}")
    assert kinds(await entries(catalog, requirement))[0] == "deleted"


async def test_what_was_decided_of_suggestions_is_told_with_its_score_and_note(catalog: Any, service: Any) -> None:
    await catalog.rows("TRUNCATE inbox, inbox_positions")
    requirement, test_case = await catalog.pair()
    other = await catalog.test_case()
    pair = {"requirement_id": requirement["id"], "test_case_id": test_case["id"]}
    suggestion_id = str(uuid.uuid4())
    accepted = {
        **pair,
        "suggestion_id": suggestion_id,
        "confidence_score": 0.73,
        "notes": "Same words",
        "actor": {"id": 7, "email": KIM.email},
    }
    ok(await service.put("/internal/links/by-suggestion", {"accepted": [accepted]}))
    rejected = factories.reviewed(
        "rejected", requirement_id=requirement["id"], test_case_id=other["id"], feedback="Another door"
    )
    told = [
        SuggestionReviewed(suggestion=rejected),
        SuggestionsBulkReviewed(action="accept", suggestions=[factories.reviewed("accepted", **pair)]),
    ]
    events = [sequenced(n, NewEvent(one, "pairs", KIM).envelope()) for n, one in enumerate(told, start=1)]
    await Inbox("catalog", catalog.database, HANDLERS, ignored_by("catalog")).receive(events)

    found = await entries(catalog, requirement, show="links,suggestions")

    assert [(one["kind"], one["actor"], one["note"], one["item"]["id"]) for one in found] == [
        ("suggestion_rejected", KIM.email, "Another door", other["id"]),
        ("link_accepted", KIM.email, "Same words", test_case["id"]),
    ]
    assert (found[1]["suggestion_id"], found[1]["score"]) == (suggestion_id, 0.73)
    assert kinds(await entries(catalog, other, "test-cases")) == ["suggestion_rejected", "created"]


async def test_results_are_told_where_they_turn(catalog: Any) -> None:
    requirement, test_case = await catalog.pair()
    await catalog.link(requirement, test_case)
    for status in ("passed", "passed", "failed", "skipped", "failed", "passed"):
        body = {"status": status, "notes": "The left door stays open." if status == "failed" else None}
        ok(await catalog.post(f"/test-cases/{test_case['id']}/results", body), 201)

    found = await entries(catalog, requirement, show="results")

    turns = [(one["result"]["before"], one["result"]["status"], one["result"]["message"]) for one in found]
    assert turns == [
        ("failed", "passed", None),
        ("passed", "failed", "The left door stays open."),
        (None, "passed", None),
    ]
    assert {one["result"]["run"]["recorded_by"] for one in found} == {catalog.email}
    assert {one["item"]["id"] for one in found} == {test_case["id"]}
    assert [one["result"] for one in await entries(catalog, test_case, "test-cases", show="results")] == [
        one["result"] for one in found
    ]


@pytest.mark.parametrize("path", ["requirements", "test-cases"])
async def test_what_there_is_not_has_no_timeline(catalog: Any, path: str) -> None:
    missing = problem(await catalog.get(f"/{path}/{UNKNOWN}/timeline"), 404)
    assert missing["code"] == f"{path[:-1].replace('-', '_')}_not_found"
    refused = problem(await catalog.get(f"/{path}/{UNKNOWN}/timeline", show="versions,dreams"), 422)
    assert "it has versions, links, suggestions, results, imports" in refused["errors"][0]["message"]
