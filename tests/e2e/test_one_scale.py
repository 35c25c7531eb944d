"""One queue has one scale: whoever asks for another algorithm gets the queue that it would have made from the start."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from acceptance.client import Json, Traceline, created
from acceptance.process import RunningTraceline, fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.waiting import eventually
from embedded.demo.project import read_project

pytestmark = pytest.mark.requirement("TL-SUGG-3")

Queue = dict[tuple[str, str], Json]

THRESHOLD = 0.6
"""Below it are some of the pairs that tfidf finds."""
TOLD = ("similarity_score", "band", "suggestion_method", "suggestion_reason", "suggestion_metadata")


@contextmanager
def traceline(unused: Path, **settings: str) -> Iterator[Traceline]:
    """A Traceline with the demo's items, as they come over the API, scored in the background."""
    project = read_project()
    jobs = [("/requirements", item) for item in project.requirements]
    jobs += [("/test-cases", item) for item in project.test_cases]
    with (
        fresh_folder(unused) as place,
        RunningTraceline(place, **settings) as server,
        Traceline(server.base_url) as client,
    ):
        user = client.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda job: created(user.post(job[0], json=job[1])), jobs))
        yield user


def pending(user: Traceline) -> Queue:
    items = user.items("/suggestions", status="pending", limit=500)
    return {(one["requirement"]["external_id"], one["test_case"]["external_id"]): one for one in items}


def said(queue: Queue) -> dict[tuple[str, str], list[object]]:
    return {pair: [one[name] for name in TOLD] for pair, one in queue.items()}


@pytest.mark.long
def test_hybrid_after_tfidf_leaves_the_queue_that_hybrid_leaves_from_the_start(unused: Path) -> None:
    with traceline(unused) as user:
        eventually(lambda: len(pending(user)) > 50, "what tfidf finds in the background")
        before = pending(user)
        assert {one["suggestion_method"] for one in before.values()} == {"semantic_similarity"}
        run = user.generate(algorithm="hybrid", threshold=THRESHOLD)
        after = pending(user)
        kept = after.keys() & before.keys()
        assert len(kept) > 20
        assert {pair: after[pair]["id"] for pair in kept} == {pair: before[pair]["id"] for pair in kept}
        assert run["suggestions_updated"] >= len(kept)
        assert run["suggestions_withdrawn"] >= len(before.keys() - kept) > 0
        eventually(
            lambda: any(
                f"gave {run['suggestions_updated']} pending ones a new score" in one["message"]
                and f"withdrew {run['suggestions_withdrawn']} below the threshold" in one["message"]
                for one in user.items("/notifications")
            ),
            "the notification of the run",
        )
        assert said(pending(user)) == said(after)

    with traceline(unused, AUTO_SUGGESTIONS_ALGORITHM="hybrid", AUTO_SUGGESTIONS_THRESHOLD=str(THRESHOLD)) as user:
        eventually(lambda: said(pending(user)) == said(after), "the same queue")
