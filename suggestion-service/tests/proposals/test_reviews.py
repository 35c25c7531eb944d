"""Proposals of other kinds, limits, reviews of many, time, events and figures."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from chassis.core.projects import within
from testing.service import ok, problem

PUMP = "the pump stops when the tank is full of water and starts again when it is empty"


def requirement(number: int = 0, **fields: Any) -> dict[str, Any]:
    body = {"type": "functional", "title": f"word{number}a word{number}b word{number}c"}
    return {"kind": "requirement", "body": body, "rationale": "The code does it."} | fields


async def propose(agent: Any, *numbers: int) -> list[str]:
    """Return the ids of proposals of new requirements."""
    sent = {"proposals": [requirement(number) for number in numbers]}
    return [one["id"] for one in ok(await agent.post("/proposals", json=sent))["items"]]


async def test_a_change_shows_its_differences_and_is_outdated_when_catalog_says_so(
    service: Any, catalog: Any, agent: Any
) -> None:
    item = catalog.requirement(PUMP)
    await service.follow()
    catalog.before = {"fields": {"title": PUMP}, "differences": {"title": [{"op": "delete", "text": PUMP}]}}
    target = {"requirement": str(item), "version": 3}
    sent = {"kind": "change", "target": target, "body": {"title": "Other"}, "rationale": "It does otherwise."}
    made = ok(await agent.post("/proposals", json=sent), 201)
    assert (made["target"], made["requirement_id"], made.get("differences")) == (target, str(item), None)
    whole = await service.read(f"/proposals/{made['id']}", expand="texts,diff")
    assert (whole["before"], whole["differences"]) == (catalog.before["fields"], catalog.before["differences"])
    assert whole["requirement"]["description"] == PUMP
    catalog.refusal = {"code": "outdated", "detail": "Version 4 now.", "status": 409, "errors": [], "members": {}}
    assert (await service.post(f"/proposals/{made['id']}/accept", status=409))["code"] == "outdated"
    assert (await service.read(f"/proposals/{made['id']}"))["status"] == "outdated"
    assert catalog.applied == {}


async def test_who_dies_between_accepting_and_applying_leaves_it_applied_once(
    service: Any, catalog: Any, agent: Any
) -> None:
    made = ok(await agent.post("/proposals", json=requirement()), 201)
    catalog.caller_dies = True
    with pytest.raises(asyncio.CancelledError):
        await service.post(f"/proposals/{made['id']}/accept")
    catalog.caller_dies = False
    await service.reconcile()
    accepted = await service.read(f"/proposals/{made['id']}")
    assert (accepted["status"], accepted["made_id"]) == ("accepted", made["id"])
    (applied,) = catalog.applied.values()
    assert applied["actor"] == {"id": 1, "email": "reviewer@example.test"}


async def test_what_accepting_did_is_taken_back_and_can_be_accepted_again(
    service: Any, catalog: Any, agent: Any
) -> None:
    item = catalog.requirement(PUMP)
    await service.follow()
    sent = {"kind": "change", "target": {"requirement": str(item), "version": 3}, "body": {"title": "Other"}}
    made = ok(await agent.post("/proposals", json=sent | {"rationale": "It does otherwise."}), 201)
    where = f"/proposals/{made['id']}"
    await service.post(f"{where}/accept")
    catalog.refusal = {"code": "changed_since", "detail": "No.", "status": 409, "errors": [], "members": {}}
    assert (await service.post(f"{where}/reopen", status=409))["code"] == "changed_since"
    assert (await service.read(where))["status"] == "accepted"
    catalog.refusal, catalog.new_target, catalog.caller_dies = None, {"version": 5}, True
    with pytest.raises(asyncio.CancelledError):
        await service.post(f"{where}/reopen")
    catalog.caller_dies = False
    await service.reconcile()
    reopened = await service.read(where)
    assert (reopened["status"], reopened["made_id"], reopened["target"]["version"]) == ("pending", None, 5)
    assert catalog.applied == {}
    again = sent | {"target": reopened["target"], "rationale": "The same."}
    assert ok(await agent.post("/proposals", json=again))["id"] == made["id"]
    await service.post(f"{where}/accept")
    assert (await service.read(where))["status"] == "accepted"
    assert len(catalog.applied) == 1


async def test_a_rejection_is_undone_without_catalog(service: Any, catalog: Any, agent: Any) -> None:
    (made,) = await propose(agent, 1)
    await service.post(f"/proposals/{made}/reject")
    catalog.answers_with = 503
    assert (await service.post(f"/proposals/{made}/reopen"))["status"] == "pending"


async def test_what_catalog_refuses_is_refused_where_it_stands(service: Any, catalog: Any, agent: Any) -> None:
    errors = [{"pointer": "/body/priority", "message": "No.", "code": "enum"}]
    catalog.refusal = {"code": "invalid_request", "detail": "No.", "status": 422, "errors": errors, "members": {}}
    problem(await agent.post("/proposals", json=requirement()), 422, field="/body/priority")
    catalog.answers_with = 503
    problem(await agent.post("/proposals", json=requirement()), 503)
    assert (await service.read("/proposals"))["total"] == 0


async def test_the_same_that_was_rejected_is_refused(service: Any, agent: Any, other_agent: Any) -> None:
    (made,) = await propose(agent, 1)
    await service.post(f"/proposals/{made}/reject", {"feedback": "Not ours"})
    refused = problem(await other_agent.post("/proposals", json=requirement(1)), 409, "proposal_rejected")
    assert (refused["feedback"], refused["reviewed_by"]) == ("Not ours", "reviewer@example.test")


async def test_a_near_duplicate_needs_to_be_told_from_what_there_is(service: Any, catalog: Any, agent: Any) -> None:
    there = catalog.requirement(PUMP, external_id="REQ-9")
    catalog.test_case(PUMP)
    await service.follow()
    body = {"type": "functional", "title": PUMP, "description": f"{PUMP}."}
    refused = problem(await agent.post("/proposals", json=requirement(body=body)), 409, "similar_exists")
    assert [(one["id"], one["external_id"]) for one in refused["similar"]] == [(str(there), "REQ-9")]
    (row,) = ok(await agent.post("/proposals", json={"proposals": [requirement(body=body)]}))["items"]
    assert (row["status"], row["similar"]) == ("similar_exists", refused["similar"])
    ok(await agent.post("/proposals", json=requirement(body=body, not_a_duplicate_of=["req-9"])), 201)


async def test_so_many_wait_of_an_agent_and_fewer_of_one_that_people_reject(
    service: Any, agent: Any, other_agent: Any
) -> None:
    ids = await propose(agent, *range(100)) + await propose(agent, *range(100, 200))
    problem(await agent.post("/proposals", json=requirement(200)), 429, "too_many_pending")
    await propose(other_agent, 201)
    (figures, _) = (await service.read("/analytics/agents"))["items"]
    assert (figures["proposed"], figures["pending"], figures["most_pending"]) == (200, 200, 200)
    review = {"action": "reject", "filter": {"agent": "code reader"}, "expected_count": 200}
    assert (await service.post("/proposals/bulk-review", review, status=422))["errors"][0][
        "code"
    ] == "too_many_proposals"
    for some in (ids[:100], ids[100:181]):
        result = await service.post("/proposals/bulk-review", {"action": "reject", "ids": some, "feedback": "No"})
        assert (result["reviewed"], result["failed"]) == (len(some), 0)
    (figures, _) = (await service.read("/analytics/agents"))["items"]
    assert (figures["rejected"], figures["acceptance_rate"], figures["most_pending"]) == (181, 0.0, 20)
    ok(await agent.post("/proposals", json=requirement(300)), 201)
    problem(await agent.post("/proposals", json=requirement(301)), 429, "too_many_pending")


async def test_many_are_reviewed_when_they_are_as_many_as_were_seen(service: Any, agent: Any, other_agent: Any) -> None:
    ids = await propose(agent, 1, 2)
    batch = (await service.read(f"/proposals/{ids[0]}"))["batch"]
    await propose(other_agent, 3)
    asked: dict[str, Any] = {"action": "accept", "filter": {"batch": batch}}
    seen = await service.post("/proposals/bulk-review", asked)
    assert (seen["count"], seen["reviewed"], seen["dry_run"]) == (2, 0, True)
    refused = await service.post("/proposals/bulk-review", asked | {"expected_count": 3}, status=409)
    assert refused["code"] == "count_changed"
    done = await service.post("/proposals/bulk-review", asked | {"expected_count": 2})
    assert (done["reviewed"], {one["status"] for one in done["items"]}) == (2, {"accepted"})
    own = {"action": "accept", "filter": {"agent": "me"}, "expected_count": 1}
    (refused_one,) = ok(await other_agent.post("/proposals/bulk-review", json=own))["items"]
    assert refused_one["code"] == "own_proposal"


async def test_what_nobody_reviews_within_30_days_ends(service: Any, agent: Any) -> None:
    old, new = await propose(agent, 1, 2)
    await service.rows("UPDATE proposals SET created_at = now() - %s WHERE id = %s", timedelta(days=31), old)
    await service.withdraw_old()
    assert [(await service.read(f"/proposals/{one}"))["status"] for one in (old, new)] == ["expired", "pending"]


async def test_events_tell_of_each_request_once_with_token_owner_and_program(service: Any, agent: Any) -> None:
    ids = await propose(agent, 1, 2)
    (made,) = await service.events("suggestion.proposal.made")
    assert (made["actor"], made["actorid"]) == ("owner@example.test", 5)
    assert [one["id"] for one in made["data"]["proposals"]] == ids
    told = made["data"]["proposals"][0]
    assert (told["agent_name"], told["owner_email"], told["client"]) == (
        "code reader",
        "owner@example.test",
        "coder 2.1",
    )
    await service.post(f"/proposals/{ids[0]}/accept")
    await agent.post(f"/proposals/{ids[1]}/withdraw")
    reviewed = await service.events("suggestion.proposal.reviewed")
    assert [(one["actor"], one["data"]["proposals"][0]["status"]) for one in reviewed] == [
        ("reviewer@example.test", "accepted"),
        ("owner@example.test", "withdrawn"),
    ]


async def test_projects_see_nothing_of_one_another(service: Any, agent: Any) -> None:
    (made,) = await propose(agent, 1)
    with within("OTHER"):
        async with service.database.connection() as connection:
            cursor = await connection.execute("SELECT id FROM proposals WHERE id = %s", (made,))
            assert await cursor.fetchall() == []
