"""Very many creates at a time, through the stack as operators run it."""

import random
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from acceptance.client import Json, Traceline, created
from acceptance.faults.databases import events_kept_back, query
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.rest import settled
from acceptance.stack import RunningStack
from acceptance.waiting import eventually
from benchmarks.texts import Texts
from suggestion_service.engine import Corpus, Entry, ItemText, Query, Scorer, Side, terms

CLIENTS = 8
SAYS = ("title", "description", "steps")

Pair = tuple[UUID, UUID]


# The thresholds are where unrelated items begin to resemble one another: most pairs that are found are near them, so
# that whoever counts words of an unfinished burst misses some and finds others.
@pytest.mark.parametrize(
    ("creates", "threshold"),
    [
        pytest.param(600, 0.15, id="600 creates", marks=pytest.mark.long),
        pytest.param(10_000, 0.2, id="10,000 creates", marks=pytest.mark.long),
    ],
)
def test_a_burst_of_creates_leaves_the_suggestions_that_generate_over_everything_gives(
    place: Path, creates: int, threshold: float
) -> None:
    with (
        RunningStack(place, AUTO_SUGGESTIONS_THRESHOLD=str(threshold)) as stack,
        Traceline(stack.base_url) as anyone,
    ):
        admin = anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        requirements, test_cases = burst(admin, creates // 2)
        settled(stack, within=600)

        found = pending(stack)
        assert differences(found, scored_at_once(requirements, test_cases, threshold)) == {}
        assert len(found) > creates / 2 + 100, "there are more than those that were made to match"
        run = generate(admin)
        assert run["pairs_analyzed"] == len(requirements) * len(test_cases)
        assert (run["status"], run["suggestions_created"]) == ("completed", 0)
        assert differences(pending(stack), found) == {}
        assert admin.read("/suggestions", status="pending", limit=1)["total"] == len(found)
        assert events_kept_back(stack) == []


def burst(user: Traceline, pairs: int) -> tuple[dict[UUID, Json], dict[UUID, Json]]:
    """Have clients create requirements and test cases, in no order; return their bodies by id."""
    texts = Texts(8)
    requirements = [texts.requirement(number, "REQ") for number in range(pairs)]
    test_cases = [texts.test_case(number, "TC", near) for number, near in enumerate(requirements)]
    items = [("/requirements", body) for body in requirements] + [("/test-cases", body) for body in test_cases]
    random.Random(8).shuffle(items)
    with ThreadPoolExecutor(CLIENTS) as clients:
        answers = clients.map(lambda item: created(user.post(item[0], json=item[1])), items)
        ids = [(path, UUID(answer["id"]), body) for (path, body), answer in zip(items, answers, strict=True)]
    return (
        {item_id: body for path, item_id, body in ids if path == "/requirements"},
        {item_id: body for path, item_id, body in ids if path == "/test-cases"},
    )


def scored_at_once(
    requirements: Mapping[UUID, Json], test_cases: Mapping[UUID, Json], threshold: float
) -> dict[Pair, float]:
    """What the engine finds when it is given everything at once."""
    corpus = Corpus()
    sides: dict[Side, Mapping[UUID, Json]] = {"requirement": requirements, "test_case": test_cases}
    for side, items in sides.items():
        for item_id, body in items.items():
            corpus.put(side, item_id, entry(body))
    return {
        (requirement_id, test_case_id): score
        for block in Scorer(corpus.snapshot()).score(Query("tfidf", threshold))
        for requirement_id, test_case_id, score in zip(
            block.requirement_ids.tolist(), block.test_case_ids.tolist(), block.scores.tolist(), strict=True
        )
    }


def entry(body: Json) -> Entry:
    said: dict[str, Any] = {name: body[name] for name in SAYS if name in body}
    tags = body.get("tags", [])
    return Entry(terms(ItemText(**said, module=body["module"], tags=tags)), body["module"], tags, body["priority"])


def pending(stack: RunningStack) -> dict[Pair, float]:
    """The scores of the pending suggestions; a score has 6 decimals, here as in the engine."""
    rows = query(
        stack,
        "suggestion",
        "SELECT requirement_id, test_case_id, similarity_score FROM suggestions WHERE status = 'pending'",
    )
    return {(row["requirement_id"], row["test_case_id"]): row["similarity_score"] for row in rows}


def differences(
    these: Mapping[Pair, float], those: Mapping[Pair, float]
) -> dict[Pair, tuple[float | None, float | None]]:
    """The pairs that are not in both with the same score."""
    return {
        pair: (these.get(pair), those.get(pair))
        for pair in these.keys() | those.keys()
        if these.get(pair) != those.get(pair)
    }


def generate(user: Traceline) -> Json:
    """Generate over everything; return the run when it has ended."""
    started = user.post("/suggestions/generate", headers={"Prefer": "respond-async"}).json()

    def ended() -> Json | None:
        run = user.read(f"/suggestions/runs/{started['id']}")
        return run if run["status"] not in ("queued", "running") else None

    return eventually(ended, "the end of the run", seconds=300)
