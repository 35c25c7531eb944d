"""One pending suggestion a pair; a pair that was decided comes again only when a text has changed."""

from typing import Any
from uuid import UUID

import pytest

from suggestion_service.scoring.proposals import Proposer
from suggestion_service.scoring.repository import PendingPair
from suggestion_service.store import suggestions

PUMP = "the pump stops when the tank is full"


def pair_of(suggestion: dict[str, Any]) -> dict[str, str]:
    return {name: suggestion[name] for name in ("requirement_id", "test_case_id")}


async def decide(service: Any, suggestion: dict[str, Any], how: str) -> None:
    if how == "expire":
        await service.rows("UPDATE suggestions SET created_at = now() - interval '31 days'")
        await service.withdraw_old()
    else:
        await service.post(f"/suggestions/{suggestion['id']}/{how}")


async def test_another_run_makes_no_second_suggestion(service: Any) -> None:
    suggestion = await service.pair(PUMP)
    run = await service.generate(threshold=0.1)
    assert (run["suggestions_created"], run["suggestions_skipped"], run["pairs_analyzed"]) == (0, 1, 1)
    assert await service.suggestions() == [suggestion]


@pytest.mark.parametrize("how", ["reject", "accept", "expire"])
async def test_a_decided_pair_stays_away_while_its_texts_are_the_same(service: Any, catalog: Any, how: str) -> None:
    suggestion = await service.pair(PUMP)
    await decide(service, suggestion, how)
    catalog.change(UUID(suggestion["requirement_id"]), status="approved", priority="high", tags=["wet"])
    await service.score()
    run = await service.generate(threshold=0)
    assert (run["suggestions_created"], run["suggestions_skipped"]) == (0, 1)
    assert await service.suggestions(status="pending") == []


@pytest.mark.parametrize("how", ["reject", "expire"])
@pytest.mark.parametrize("side", ["requirement_id", "test_case_id"])
@pytest.mark.parametrize("by", ["background", "run"])
async def test_a_decided_pair_comes_again_when_a_text_changes(
    service: Any, catalog: Any, how: str, side: str, by: str
) -> None:
    suggestion = await service.pair(PUMP)
    await decide(service, suggestion, how)
    catalog.change(UUID(suggestion[side]), title="the lamp stops at once")
    await (service.score() if by == "background" else service.generate())
    (again,) = await service.suggestions(status="pending", **pair_of(suggestion))
    assert again["id"] != suggestion["id"]
    assert again["similarity_score"] < suggestion["similarity_score"]


async def test_what_was_reviewed_is_the_text_as_it_was_then(serve: Any, catalog: Any) -> None:
    """The text changed before the review, and nothing had scored it yet."""
    service = await serve(auto_suggestions_enabled=False)
    requirement, _ = catalog.requirement(PUMP), catalog.test_case(PUMP)
    await service.generate()
    (suggestion,) = await service.suggestions()
    catalog.change(requirement, title="the pump stops at once")
    await service.follow()
    await service.post(f"/suggestions/{suggestion['id']}/reject")
    await service.generate()
    assert await service.suggestions(status="pending") == []


async def test_a_linked_pair_is_not_suggested(service: Any, catalog: Any) -> None:
    requirement, test_case = catalog.requirement(PUMP), catalog.test_case(PUMP)
    link = catalog.link(requirement, test_case)
    await service.score()
    run = await service.generate()
    assert (run["suggestions_created"], run["suggestions_skipped"]) == (0, 1)
    catalog.unlink(link)
    run = await service.generate()
    assert (run["suggestions_created"], run["suggestions_skipped"]) == (1, 0)


@pytest.mark.parametrize(
    ("by", "title"),
    [("background", "the pump stops"), ("run", "the pump stops"), ("background", "a lamp burns at night")],
    ids=["background-alike", "run-alike", "background-unlike"],
)
async def test_a_changed_text_gives_the_pending_suggestion_its_new_score(
    service: Any, catalog: Any, by: str, title: str
) -> None:
    before = await service.pair(PUMP)
    catalog.change(UUID(before["requirement_id"]), title=title, description=title)
    await (service.score() if by == "background" else service.generate())
    (after,) = await service.suggestions()
    assert (after["id"], after["status"], after["created_at"]) == (before["id"], "pending", before["created_at"])
    assert after["similarity_score"] < before["similarity_score"]
    assert after["suggestion_reason"] != before["suggestion_reason"]
    components = after["suggestion_metadata"]["components"].values()
    score = sum(part["score"] * part["weight"] for part in components)
    assert after["similarity_score"] == pytest.approx(score, abs=1e-6)


async def test_a_new_score_is_that_of_the_method_that_suggested_the_pair(service: Any, catalog: Any) -> None:
    requirement, _ = catalog.requirement(PUMP), catalog.test_case("the pump stops")
    await service.generate(algorithm="hybrid")
    catalog.change(requirement, title="the pump stops at once")
    await service.score()
    (after,) = await service.suggestions()
    assert after["suggestion_method"] == "hybrid"
    assert set(after["suggestion_metadata"]["components"]) == {"texts", "heuristic"}


async def test_a_score_of_an_older_text_never_replaces_a_newer_one(service: Any, catalog: Any) -> None:
    suggestion = await service.pair(PUMP)
    older = Proposer(service.database, await service.corpora.refresh())
    pending = [
        PendingPair(**row) for row in await service.rows("SELECT id, requirement_id, test_case_id FROM suggestions")
    ]
    late = await older.rescore("tfidf", pending)
    catalog.change(UUID(suggestion["requirement_id"]), title="the pump stops at once")
    await service.score()
    (newer,) = await service.suggestions()
    async with service.database.transaction() as connection:
        await suggestions.rescore(connection, late.ids, late.rows)
    assert await service.suggestions() == [newer]


async def test_background_and_run_give_a_pair_the_same_score(serve: Any, catalog: Any) -> None:
    for text in (PUMP, "the lamp burns at night", "the lamp burns when the tank is full"):
        catalog.requirement(text)
        catalog.test_case(f"{text} and the door opens")
    background, run = await serve(), await serve(auto_suggestions_enabled=False)
    await background.score()
    await run.generate()

    async def scores(service: Any) -> dict[tuple[str, str], Any]:
        told = ("similarity_score", "suggestion_reason", "suggestion_metadata")
        return {
            (found["requirement_id"], found["test_case_id"]): [found[name] for name in told]
            for found in await service.suggestions()
        }

    assert len(await scores(run)) >= 3
    assert await scores(background) == await scores(run)
