"""Each event is told to the right people, in words they understand, once."""

import asyncio
import random
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import httpx
import pytest

from chassis.core.identity import Role
from chassis.messaging.bus import Publication
from chassis.messaging.bus.in_process import InProcessBus
from chassis.messaging.events import Actor
from chassis.messaging.payloads import Payload
from chassis.web.peers import Peer
from contracts import auth, catalog, suggestion
from contracts.routes import NOTIFICATION, followed_by
from notification_service.settings import Settings
from notification_service.worker import create_worker
from testing import factories
from testing.internal import KEYS, SIGNERS

if TYPE_CHECKING:
    from conftest import World

CLEO = Actor(3, "cleo@example.com")
DAN = Actor(4, "dan@example.com")


async def only(world: "World") -> dict[str, Any]:
    [told] = await world.notifications()
    assert await world.notifications(world.ben) == []
    return told


async def test_the_author_of_a_requirement_is_told(world: "World") -> None:
    item = factories.requirement()
    await world.tell(catalog.RequirementCreated(requirement=item))
    told = await only(world)
    assert told["type"] == "requirement_created"
    assert told["message"] == "You created the requirement REQ-1 “Lock the account”."
    assert told["data"] == {"requirement_id": str(item.id)}
    assert (told["read"], told["read_at"]) == (False, None)


async def test_the_author_of_a_test_case_is_told(world: "World") -> None:
    item = factories.test_case()
    await world.tell(catalog.TestCaseCreated(test_case=item))
    told = await only(world)
    assert told["type"] == "test_case_created"
    assert told["message"] == "You created the test case “Fail five times”."
    assert told["data"] == {"test_case_id": str(item.id)}


@pytest.mark.parametrize(("count", "words"), [(1, "1 new suggestion for"), (3, "3 new suggestions for")])
async def test_who_changed_an_item_is_told_of_its_new_suggestions(world: "World", count: int, words: str) -> None:
    found = factories.item_suggestions_generated(suggestions_created=count)
    await world.tell(found)
    told = await only(world)
    assert told["type"] == "suggestions_generated"
    assert told["title"] == f"{words} REQ-1"
    assert told["message"].startswith(f"{words} the requirement REQ-1 “Lock the account” wait")
    assert told["data"] == {"requirement_id": str(found.item_id), "suggestions_created": count}


async def test_suggestions_for_a_test_case_lead_to_the_test_case(world: "World") -> None:
    found = factories.item_suggestions_generated(item_type="test_case")
    await world.tell(found)
    assert (await only(world))["data"]["test_case_id"] == str(found.item_id)


async def test_nobody_is_told_that_nothing_was_found(world: "World") -> None:
    await world.tell(factories.item_suggestions_generated(suggestions_created=0))
    assert await world.notifications() == []


async def test_suggestions_for_all_that_one_request_changed_are_one_notification(world: "World") -> None:
    found = [factories.item_suggestions_generated(item_type=kind) for kind in ("requirement", "test_case") * 11]
    await world.tell(*found[:1])
    [first] = await world.notifications()
    await world.ask("POST", f"/notifications/{first['id']}/read")
    await world.tell(*found[1:])
    await world.tell(factories.item_suggestions_generated(suggestions_created=1), by=world.ben)
    [told] = await world.notifications()
    number = 22 * found[0].suggestions_created
    assert (told["id"], told["read"]) == (first["id"], False), "there is more to read than was"
    assert told["title"] == f"{number} new suggestions for 22 items"
    assert told["message"] == f"{number} new suggestions for 22 items that were changed at once wait for review."
    assert told["data"] == {
        "items": 22,
        "requirement_ids": [str(one.item_id) for one in found[::2]],
        "test_case_ids": [str(one.item_id) for one in found[1::2]],
        "suggestions_created": number,
    }
    assert len(await world.notifications(world.ben)) == 1, "each is told of what they changed"
    await world.tell(found[0], request_id="request-2")
    assert len(await world.notifications()) == 2
    assert len(await world.audit_log(action="suggestion.generated", limit=100)) == 24


async def test_a_run_is_one_notification_however_many_suggestions_it_made(world: "World") -> None:
    run = factories.run_finished(suggestions_created=4000)
    await world.tell(run)
    told = await only(world)
    assert told["type"] == "suggestions_generated"
    assert told["title"] == "Generation finished: 4,000 new suggestions"
    assert told["data"] == {"run_id": str(run.run_id), "status": "completed", "suggestions_created": 4000}


async def test_a_run_that_found_nothing_new_is_told_too(world: "World") -> None:
    await world.tell(factories.run_finished(suggestions_created=0))
    assert (await only(world))["title"] == "Generation finished: 0 new suggestions"


@pytest.mark.parametrize(
    ("counts", "did"),
    [
        ((12, 0, 0), "found 12 new suggestions."),
        ((0, 1, 1), "found nothing new, gave 1 pending one a new score and withdrew 1 below the threshold."),
        ((1, 38, 9), "found 1 new suggestion, gave 38 pending ones a new score and withdrew 9 below the threshold."),
    ],
)
async def test_a_run_tells_what_became_of_the_queue(world: "World", counts: tuple[int, int, int], did: str) -> None:
    names = ("suggestions_created", "suggestions_updated", "suggestions_withdrawn")
    run = factories.run_finished(**dict(zip(names, counts, strict=True)))
    await world.tell(run)
    assert (await only(world))["message"] == (
        f"Suggestions for the whole record (tfidf, threshold 0.3): 600 pairs compared. The run {did}"
    )
    (entry,) = await world.audit_log()
    assert entry["summary"].endswith(did)
    assert [entry["details"][name] for name in names] == list(counts)


async def test_new_scores_after_an_update_are_told_once_to_those_who_review(world: "World") -> None:
    await world.tell_users([factories.user(world.ana, "admin"), factories.user(world.ben, "viewer")])
    renewed = factories.run_finished(
        pending_only=True, suggestions_created=0, suggestions_updated=40, suggestions_withdrawn=9
    )
    await world.tell(renewed, by=world.system)
    (told,) = await world.notifications(world.ana)
    assert await world.notifications(world.ben) == []
    assert (told["type"], told["title"]) == ("suggestions_generated", "New scores for 40 pending suggestions")
    assert told["message"] == (
        "Since this update a score says how likely two items belong together, by whichever algorithm. Scoring anew what"
        " is pending gave 40 pending ones a new score and withdrew 9 below the threshold. Thresholds that are set, like"
        " 0.3, stay, and are read on the new scale."
    )
    (entry,) = await world.audit_log(action="run.completed")
    assert entry["summary"].endswith("the run gave 40 pending ones a new score and withdrew 9 below the threshold.")


async def test_nobody_is_told_of_an_update_that_has_changed_no_score(world: "World") -> None:
    await world.tell_users([factories.user(world.ana, "admin")])
    await world.tell(factories.run_finished(pending_only=True, suggestions_created=0), by=world.system)
    assert await world.notifications(world.ana) == []


async def test_a_run_that_leaves_too_many_tells_which_threshold_leaves_three(world: "World") -> None:
    await world.tell(factories.run_finished(advised_threshold=0.62))
    assert (await only(world))["message"].endswith(
        "found 12 new suggestions. More than ten a requirement are pending: a threshold of 0.62 would leave three."
    )


async def test_a_failed_run_is_told_with_its_reason(world: "World") -> None:
    await world.tell(factories.run_finished(status="failed", error="The engine stopped."))
    told = await only(world)
    assert told["title"] == "Generation failed"
    assert told["message"] == (
        "Suggestions for the whole record (tfidf, threshold 0.3) could not be generated: The engine stopped."
    )


async def test_nobody_is_told_of_the_run_that_they_cancelled(world: "World") -> None:
    await world.tell(factories.run_finished(status="cancelled"))
    assert await world.notifications() == []


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (
            "accepted",
            "You accepted the suggestion to link REQ-1 “Lock the account” and “Fail five times”; they are linked now.",
        ),
        ("rejected", "You rejected the suggestion to link REQ-1 “Lock the account” and “Fail five times”."),
    ],
)
async def test_the_reviewer_of_a_suggestion_is_told(world: "World", status: str, message: str) -> None:
    reviewed = factories.reviewed(status)
    await world.tell(suggestion.SuggestionReviewed(suggestion=reviewed))
    told = await only(world)
    assert told["type"] == "suggestion_reviewed"
    assert told["message"] == message
    assert told["data"] == {
        "suggestion_id": str(reviewed.id),
        "status": status,
        "requirement_id": str(reviewed.requirement_id),
        "test_case_id": str(reviewed.test_case_id),
        "link_id": None if reviewed.link_id is None else str(reviewed.link_id),
    }


async def test_a_bulk_review_is_one_notification_with_counts_and_few_ids(world: "World") -> None:
    reviewed = [factories.reviewed() for _ in range(23)]
    review_id = uuid4()
    await world.tell(suggestion.SuggestionsBulkReviewed(action="accept", suggestions=reviewed, review_id=review_id))
    told = await only(world)
    assert told["type"] == "suggestion_reviewed"
    assert told["message"] == "You accepted 23 suggestions at once."
    assert told["data"] == {
        "accepted": 23,
        "rejected": 0,
        "review_id": str(review_id),
        "suggestion_ids": [str(one.id) for one in reviewed[:20]],
    }


@pytest.mark.parametrize(
    ("number", "reviewer", "status", "title", "message"),
    [
        (
            1,
            "kim@example.com",
            "accepted",
            "1 suggestion reopened",
            "You undid the review by kim@example.com: the suggestion to link REQ-1 “Lock the account” and"
            " “Fail five times” is pending again; its link is gone.",
        ),
        (
            22,
            "ana@example.com",
            "rejected",
            "22 suggestions reopened",
            "You undid your review: 22 suggestions are pending again.",
        ),
        (
            2,
            "kim@example.com",
            "accepted",
            "2 suggestions reopened",
            "You undid the review by kim@example.com: 2 suggestions are pending again; 2 links went too.",
        ),
    ],
)
async def test_who_undoes_a_review_is_told_once(
    world: "World", number: int, reviewer: str, status: str, title: str, message: str
) -> None:
    link_id = uuid4() if status == "accepted" else None
    reopened = [factories.reopened(reviewed_by=reviewer, status=status, link_id=link_id) for _ in range(number)]
    await world.tell(suggestion.SuggestionsReopened(suggestions=reopened))
    told = await only(world)
    assert (told["type"], told["title"], told["message"]) == ("suggestion_reviewed", title, message)
    assert told["data"] == {
        "reopened": number,
        "review_id": str(reopened[0].review_id),
        "suggestion_ids": [str(one.id) for one in reopened[:20]],
    }


async def test_what_somebody_does_in_the_page_is_read_from_the_start(world: "World") -> None:
    at_page = replace(world.ana, at_page=True)
    await world.tell(
        catalog.RequirementCreated(requirement=factories.requirement()),
        suggestion.SuggestionReviewed(suggestion=factories.reviewed()),
        by=at_page,
    )
    await world.tell(factories.item_suggestions_generated(suggestions_created=2), factories.run_finished())
    told = {one["type"]: one for one in await world.notifications()}
    for kind in ("requirement_created", "suggestion_reviewed"):
        assert (told[kind]["read"], told[kind]["read_at"]) == (True, told[kind]["created_at"])
    assert told["suggestions_generated"]["read"] is False
    assert (await world.read("/notifications/unread-count"))["unread_count"] == 2


async def test_who_undoes_their_own_review_has_no_notification_of_it_any_more(world: "World") -> None:
    async def messages() -> list[str]:
        return [one["message"].partition(":")[0] for one in await world.notifications()]

    one, other = (suggestion.SuggestionReviewed(suggestion=factories.reviewed(), review_id=uuid4()) for _ in range(2))
    many = suggestion.SuggestionsBulkReviewed(
        action="reject", suggestions=[factories.reviewed("rejected") for _ in range(2)], review_id=uuid4()
    )
    await world.tell(one, other, many)
    moment = datetime.now(UTC)

    def undone(*reviewed: suggestion.ReviewedSuggestion, review_id: UUID | None, by: str) -> Payload:
        return suggestion.SuggestionsReopened(
            suggestions=[
                factories.reopened(id=each.id, reviewed_by=by, reviewed_at=moment, review_id=review_id)
                for each in reviewed
            ]
        )

    await world.tell(undone(one.suggestion, review_id=one.review_id, by="kim@example.com"))
    await world.tell(undone(many.suggestions[0], review_id=many.review_id, by=world.ana.email))
    assert len(await messages()) == 5, "another's review, and a part of one, leave what was told"
    await world.tell(undone(one.suggestion, review_id=one.review_id, by=world.ana.email))
    await world.tell(undone(*many.suggestions, review_id=many.review_id, by=world.ana.email))
    left = await messages()
    assert [text for text in left if "undid" not in text] == [
        "You accepted the suggestion to link REQ-1 “Lock the account” and “Fail five times”; they are linked now."
    ]


async def test_a_bulk_review_of_nothing_is_not_told(world: "World") -> None:
    await world.tell(suggestion.SuggestionsBulkReviewed(action="reject", suggestions=[]))
    assert await world.notifications() == []


async def test_what_the_system_did_is_told_to_nobody(world: "World") -> None:
    await world.tell(
        catalog.RequirementCreated(requirement=factories.requirement()), factories.run_finished(), by=world.system
    )
    assert await world.rows("SELECT user_id FROM notifications") == []


async def test_changes_deletions_links_and_expiry_are_no_news(world: "World") -> None:
    item = factories.requirement()
    await world.tell(
        catalog.RequirementUpdated(requirement=item, changes={}),
        catalog.RequirementDeleted(requirement=item),
        catalog.LinkCreated(link=factories.link()),
        suggestion.SuggestionsExpired(suggestion_ids=[item.id], reason="Pending for 30 days."),
    )
    assert await world.notifications() == []


async def test_a_coverage_drop_is_told_to_active_reviewers_and_admins_only(world: "World") -> None:
    await world.tell_users(
        [
            factories.user(world.ana, "admin"),
            factories.user(world.ben, "reviewer"),
            factories.user(CLEO, "viewer"),
            factories.user(DAN, "reviewer", is_active=False),
        ]
    )
    await world.tell(factories.coverage_dropped(), by=world.system)
    for who in (world.ana, world.ben):
        [told] = await world.notifications(who)
        assert told["type"] == "coverage_drop"
        assert told["title"] == "Coverage fell below 80%"
        assert told["message"] == (
            "79,999 of 100,000 requirements have a test case: coverage is 79.9%, below the threshold of 80%."
        )
        assert told["data"]["covered_requirements"] == 79999
    assert await world.notifications(CLEO) == []
    assert await world.notifications(DAN) == []


async def test_a_drop_of_a_small_record_is_told_in_good_grammar(world: "World") -> None:
    await world.tell_users([factories.user(world.ana, "admin")])
    for covered, total in ((1, 2), (2, 3)):
        drop = catalog.CoverageDropped(
            coverage=covered / total, threshold=0.8, covered_requirements=covered, total_requirements=total
        )
        await world.tell(drop, by=world.system)
    assert [told["message"] for told in await world.notifications(world.ana)] == [
        "2 of 3 requirements have a test case: coverage is 66.7%, below the threshold of 80%.",
        "1 of 2 requirements has a test case: coverage is 50%, below the threshold of 80%.",
    ]


async def test_roles_count_as_they_are_at_the_moment_of_the_drop(world: "World") -> None:
    await world.tell_users([factories.user(world.ana, "viewer"), factories.user(world.ben, "reviewer")])
    await world.tell(
        auth.UserUpdated(user=factories.user(world.ana, "reviewer"), changes={}),
        auth.UserUpdated(user=factories.user(world.ben, "viewer"), changes={}),
        by=world.system,
    )
    await world.tell(factories.coverage_dropped(), by=world.system)
    assert len(await world.notifications(world.ana)) == 1
    assert await world.notifications(world.ben) == []


@pytest.mark.parametrize("together", [True, False], ids=["in one batch", "in two batches"])
async def test_a_role_change_that_arrives_late_does_not_undo_a_later_one(world: "World", together: bool) -> None:
    later = world.envelope(auth.UserUpdated(user=factories.user(world.ana, "admin"), changes={}), sequence=9)
    earlier = world.envelope(auth.UserUpdated(user=factories.user(world.ana, "viewer"), changes={}), sequence=8)
    for batch in [[later, earlier]] if together else [[later], [earlier]]:
        await world.inbox.receive(batch)
    await world.tell(factories.coverage_dropped(), by=world.system)
    assert len(await world.notifications(world.ana)) == 1


async def test_a_changed_password_brings_the_user_as_they_are(world: "World") -> None:
    await world.tell(auth.PasswordChanged(user=factories.user(world.ana, "reviewer")))
    await world.tell(factories.coverage_dropped(), by=world.system)
    assert len(await world.notifications(world.ana)) == 1


async def test_each_event_is_told_once_however_often_and_in_whatever_order_it_comes(world: "World") -> None:
    await world.tell_users([factories.user(world.ana, "admin"), factories.user(world.ben, "reviewer")])
    envelopes = [
        *(
            world.envelope(catalog.RequirementCreated(requirement=factories.requirement(title=f"Item {number}")))
            for number in range(30)
        ),
        world.envelope(factories.run_finished()),
        world.envelope(factories.coverage_dropped(), world.system),
    ]
    order = random.Random(7)
    for _ in range(3):
        order.shuffle(envelopes)
        await world.inbox.receive(envelopes)
    await asyncio.gather(*(world.inbox.receive(envelopes[start::2]) for start in (0, 1, 0)))

    assert len(await world.notifications(world.ana)) == 32
    assert len(await world.notifications(world.ben)) == 1
    assert len(await world.audit_log(action="requirement.created")) == 30


async def test_a_notification_is_not_doubled_even_when_the_inbox_forgot_the_event(world: "World") -> None:
    await world.tell_users([factories.user(world.ana, "admin")])
    envelopes = [world.envelope(factories.run_finished()), world.envelope(factories.coverage_dropped(), world.system)]
    await world.inbox.receive(envelopes)
    await world.rows("DELETE FROM inbox RETURNING event_id")
    await world.inbox.receive(envelopes)
    assert len(await world.notifications()) == 2
    assert await world.rows("SELECT error FROM inbox_failures") == []


async def test_the_worker_takes_events_from_the_bus(world: "World") -> None:
    bus = InProcessBus()
    settings = Settings(database_url="unused", internal_signing_key=KEYS[NOTIFICATION.name])
    async with httpx.AsyncClient(base_url="http://nobody") as client:  # it is asked only when the bus brings nothing
        peer = Peer("nobody", client, SIGNERS[NOTIFICATION.name])
        create_worker(settings, world.database, bus, *(peer for _ in followed_by(NOTIFICATION)))
    await bus.start()
    created = catalog.RequirementCreated(requirement=factories.requirement())
    joined = auth.UserCreated(user=factories.user(world.ana))
    await bus.publish(
        [Publication(told.wire_name, world.envelope(told)) for told in (created, joined, factories.run_finished())]
    )
    assert len(await world.notifications()) == 2
    assert len((await world.read("/audit-log", role=Role.ADMIN))["items"]) == 3
