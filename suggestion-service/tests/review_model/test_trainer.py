"""Reviews re-rank what is pending, where they are seen to help, and take it back when they do not any more."""

from collections import Counter
from itertools import product
from typing import Any
from uuid import UUID

import pytest

from suggestion_service.review_model import repository, trainer

PUMP = "the pump stops when the tank is full"
LAMP = "the lamp burns when the hall is dark"
Catalogued = dict[str, tuple[list[UUID], list[UUID]]]


@pytest.fixture
async def topics(service: Any, catalog: Any) -> Catalogued:
    """Requirements and test cases of pumps and of lamps; 20 suggestions of each, some strong and some weak."""
    made: Catalogued = {"pump": ([], []), "lamp": ([], [])}
    for topic, text in (("pump", PUMP), ("lamp", LAMP)):
        for number in range(4):
            title = f"{text} {'quickly and safely ' * (number % 2)}{topic}{number}"
            made[topic][0].append(catalog.requirement(title, external_id=f"{topic.upper()}-{number}"))
        for number in range(5):
            made[topic][1].append(catalog.test_case(f"{text} {'without a sound ' * (number % 3)}test{number}"))
    await service.generate(threshold=0.01)
    # So near to one another that reviews may change their order.
    await service.rows("UPDATE suggestions SET similarity_score = 0.5 + similarity_score / 4")
    assert len(await service.suggestions()) == 40
    return made


def of(topics: Catalogued, topic: str, reviewed: bool) -> set[tuple[str, str]]:
    """Pairs of a topic: ten and two that are reviewed, or the eight others."""
    requirements, test_cases = topics[topic]
    pairs = sorted((str(r), str(t)) for r, t in product(requirements, test_cases))
    return set(pairs[:12] if reviewed else pairs[12:])


def pair_of(suggestion: dict[str, Any]) -> tuple[str, str]:
    return suggestion["requirement_id"], suggestion["test_case_id"]


async def review(service: Any, action: str, pairs: set[tuple[str, str]]) -> None:
    ids = [found["id"] for found in await service.suggestions(status="pending") if pair_of(found) in pairs]
    result = await service.post("/suggestions/bulk-review", {"action": action, "ids": ids})
    assert result["reviewed"] == len(pairs)


async def teach(service: Any, topics: Catalogued) -> None:
    """Accept pumps, reject lamps, and learn from that."""
    await review(service, "accept", of(topics, "pump", reviewed=True))
    await review(service, "reject", of(topics, "lamp", reviewed=True))
    await service.follow()
    await service.trainer.train_if_due()


async def learning(service: Any) -> dict[str, Any]:
    found: dict[str, Any] = (await service.read("/analytics/suggestion-performance"))["learning"]
    return found


async def ranked(service: Any, sort: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = await service.suggestions(status="pending", sort=sort)
    return found


async def test_what_is_like_the_accepted_comes_before_what_is_like_the_rejected(service: Any, topics: Any) -> None:
    before = {found["id"]: found["similarity_score"] for found in await ranked(service, "score:desc")}
    by_score = [found["id"] for found in await ranked(service, "relevance:desc")]
    assert by_score == list(before)
    await teach(service, topics)

    pending = await ranked(service, "relevance:desc")
    assert {pair_of(found) for found in pending[:8]} == of(topics, "pump", reviewed=False)
    assert {pair_of(found) for found in pending[8:]} == of(topics, "lamp", reviewed=False)
    assert [found["id"] for found in await ranked(service, "relevance:asc")] == [found["id"] for found in pending[::-1]]
    left = [found_id for found_id in before if found_id in {found["id"] for found in pending}]
    assert [found["id"] for found in await ranked(service, "score:desc")] == left
    assert all(found["similarity_score"] == before[found["id"]] for found in pending)


async def test_the_explanation_names_the_reviews(service: Any, topics: Any) -> None:
    plain = {found["id"]: found["suggestion_metadata"] for found in await ranked(service, "score")}
    await teach(service, topics)
    pending = await ranked(service, "relevance:desc")
    for found, topic, status in ((pending[0], "PUMP", "accepted"), (pending[-1], "LAMP", "rejected")):
        said = found["suggestion_metadata"].pop("reviews")
        assert found["suggestion_metadata"] == plain[found["id"]]
        assert 0 < said["adjustment"] * (1 if topic == "PUMP" else -1) <= 2
        assert len(said["because"]) == 3
        for because in said["because"]:
            assert because["requirement"].startswith(f"{topic}-")
            assert because["requirement_title"].startswith(PUMP if topic == "PUMP" else LAMP)
            assert because["test_case"] == because["test_case_title"]
            assert because["status"] == status
            assert 0 < because["similarity"] <= 1
        similarities = [because["similarity"] for because in said["because"]]
        assert max(similarities) > 0.2
    one = await service.read(f"/suggestions/{pending[1]['id']}")
    assert one == pending[1]


async def test_the_report_says_whether_it_is_on_since_when_and_why(service: Any, topics: Any) -> None:
    before = await learning(service)
    assert (before["active"], before["since"], before["by_score"]) == (False, None, None)
    assert before["reason"].startswith("Off: ")
    await teach(service, topics)
    after = await learning(service)
    assert (after["active"], after["accepted"], after["rejected"]) == (True, 12, 12)
    assert after["by_score"] + after["standard_error"] < after["with_reviews"] == 1
    assert after["since"] == after["measured_at"]
    assert after["reason"].startswith("On: ")
    await review(service, "reject", {next(iter(of(topics, "lamp", reviewed=False)))})
    await service.trainer.train_if_due()
    later = await learning(service)
    assert (later["since"], later["rejected"]) == (after["since"], 13)
    assert later["measured_at"] > after["measured_at"]


async def nothing_is_adjusted(service: Any) -> bool:
    by_score, by_relevance = await ranked(service, "score:desc"), await ranked(service, "relevance:desc")
    return by_score == by_relevance and not any("reviews" in found["suggestion_metadata"] for found in by_score)


async def test_too_few_reviews_teach_nothing(service: Any, topics: Any) -> None:
    await review(service, "accept", of(topics, "pump", reviewed=True))
    await review(service, "reject", set(sorted(of(topics, "lamp", reviewed=True))[:9]))
    await service.trainer.train_if_due()
    assert await nothing_is_adjusted(service)
    report = await learning(service)
    assert (report["active"], report["accepted"], report["rejected"]) == (False, 12, 9)
    assert "there are 12 and 9" in report["reason"]


async def test_many_rejected_at_once_do_not_take_the_place_of_the_accepted(
    service: Any, topics: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(trainer, "_LATEST", 24)
    await review(service, "accept", of(topics, "pump", reviewed=True))
    await review(service, "reject", of(topics, "lamp", reviewed=True) | of(topics, "lamp", reviewed=False))
    await service.follow()
    await service.trainer.train_if_due()
    report = await learning(service)
    assert (report["active"], report["accepted"], report["rejected"]) == (True, 12, 12)
    assert report["based_on"].startswith("12 accepted and 12 rejected pairs: the latest of each")
    async with service.database.connection() as connection:
        latest = await repository.reviews(connection, 30)
        fewest = await repository.reviews(connection, 6)
    assert Counter(row.status for row in latest) == {"accepted": 12, "rejected": 18}
    assert Counter(row.status for row in fewest) == {"accepted": 3, "rejected": 3}


async def test_one_large_review_does_not_take_the_place_of_single_ones(service: Any, catalog: Any, topics: Any) -> None:
    for action, topic in (("accept", "pump"), ("reject", "lamp")):
        for pair in sorted(of(topics, topic, reviewed=True)):
            await review(service, action, {pair})
    for number in range(30):
        catalog.requirement(f"valve opens slowly {number}", module="valves")
        catalog.test_case(f"valve shuts early {number}")
    await service.follow()
    await service.generate(algorithm="tfidf", threshold=0, rescore=False)
    whole = {"status": "pending", "module": "valves"}
    count = (await service.read("/suggestions", **whole))["total"]
    assert count > 10 * repository.OF_ONE_REVIEW
    result = await service.post(
        "/suggestions/bulk-review", {"action": "reject", "filter": whole, "expected_count": count}
    )
    assert result["reviewed"] == count
    await service.trainer.train_if_due()
    report = await learning(service)
    assert (report["active"], report["accepted"], report["rejected"]) == (True, 12, 62)
    assert "at most 50 of one review" in report["based_on"]
    assert not await nothing_is_adjusted(service)
    async with service.database.connection() as connection:
        few = await repository.reviews(connection, 14)
    assert Counter(row.status for row in few) == {"accepted": 7, "rejected": 7}


async def test_reviews_that_were_undone_are_forgotten(service: Any, topics: Any) -> None:
    await teach(service, topics)
    assert not await nothing_is_adjusted(service)
    (rejected,) = {found["review_id"] for found in await service.suggestions(status="rejected")}
    await service.post(f"/suggestions/reviews/{rejected}/undo")
    await service.trainer.train_if_due()
    assert await nothing_is_adjusted(service)
    report = await learning(service)
    assert (report["active"], report["accepted"], report["rejected"]) == (False, 12, 0)


async def test_reviews_that_contradict_each_other_teach_nothing(service: Any, topics: Any) -> None:
    for topic in ("pump", "lamp"):
        pairs = sorted(of(topics, topic, reviewed=True))
        await review(service, "accept", set(pairs[::2]))
        await review(service, "reject", set(pairs[1::2]))
    await service.trainer.train_if_due()
    assert await nothing_is_adjusted(service)
    report = await learning(service)
    assert (report["active"], report["accepted"], report["rejected"]) == (False, 12, 12)
    assert report["with_reviews"] is not None


async def test_reviews_of_texts_that_have_changed_are_forgotten(service: Any, catalog: Any, topics: Any) -> None:
    await teach(service, topics)
    assert not await nothing_is_adjusted(service)
    for requirement_id in topics["lamp"][0]:
        catalog.change(requirement_id, description=f"{LAMP}, or so it should")
    await service.score()
    await service.trainer.train_if_due()
    assert await nothing_is_adjusted(service)
    assert not (await learning(service))["active"]


async def test_an_adjustment_follows_the_text_of_the_pending_pair(service: Any, catalog: Any, topics: Any) -> None:
    await teach(service, topics)
    lonely = str(catalog.requirement(LAMP))
    await service.score()
    await service.trainer.train_if_due()
    as_lamp = await service.suggestions(requirement_id=lonely)
    assert all(found["suggestion_metadata"]["reviews"]["adjustment"] < 0 for found in as_lamp)
    catalog.change(UUID(lonely), title=PUMP, description=PUMP)
    await service.score()
    await service.trainer.train_if_due()
    as_pump = [found for found in await service.suggestions(requirement_id=lonely) if found["similarity_score"] > 0.3]
    assert len(as_pump) == len(as_lamp) == 5
    assert all(found["suggestion_metadata"]["reviews"]["adjustment"] > 0 for found in as_pump)


async def test_a_new_suggestion_learns_what_the_others_know(service: Any, topics: Any) -> None:
    await teach(service, topics)
    before = await ranked(service, "relevance:desc")
    await service.rows("DELETE FROM suggestions WHERE id = %s", before[0]["id"])
    run = await service.generate(threshold=0.01, rescore=False)
    assert run["suggestions_created"] == 1
    await service.rows(
        "UPDATE suggestions SET similarity_score = %s WHERE requirement_id = %s AND test_case_id = %s",
        *(before[0]["similarity_score"], *pair_of(before[0])),
    )
    await service.trainer.train_if_due()
    after = await ranked(service, "relevance:desc")
    # Its group is not compared: it is of what waits, and twelve of the others were reviewed since the first run.
    learned = [
        {pair_of(found): found["suggestion_metadata"]["reviews"] for found in queue} for queue in (before, after)
    ]
    assert learned[0] == learned[1]


async def test_an_acceptance_whose_link_was_deleted_says_nothing_any_more(
    service: Any, catalog: Any, topics: Any
) -> None:
    await teach(service, topics)
    for link in list(catalog.links.values())[:3]:
        catalog.unlink(link)
    await service.follow()
    await service.trainer.train_if_due()
    assert (await learning(service))["accepted"] == 9
    assert await nothing_is_adjusted(service)


async def test_who_was_stopped_between_goes_on_from_there(service: Any, topics: Any) -> None:
    await teach(service, topics)
    complete = await ranked(service, "relevance:desc")
    await service.rows(
        "UPDATE suggestions SET review_adjustment = NULL, review_evidence = NULL WHERE id IN"
        " (SELECT id FROM suggestions WHERE status = 'pending' ORDER BY id LIMIT 7)"
    )
    await service.rows("UPDATE learning SET seen = 'before'")
    service.start()
    await service.trainer.train_if_due()
    assert await ranked(service, "relevance:desc") == complete


async def test_a_worker_learns_by_itself(service: Any, topics: Any, eventually: Any) -> None:
    await review(service, "accept", of(topics, "pump", reviewed=True))
    async with service.working():
        await review(service, "reject", of(topics, "lamp", reviewed=True))

        async def learnt() -> bool:
            return all("reviews" in found["suggestion_metadata"] for found in await ranked(service, "score"))

        await eventually(learnt)
