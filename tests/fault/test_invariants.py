"""What the invariants are worth: each sees the damage that it is there for."""

from collections.abc import Iterator
from typing import LiteralString

import httpx
import psycopg
import pytest

from acceptance.client import Traceline
from acceptance.faults import invariants
from acceptance.faults.draining import drained
from acceptance.faults.history import History, Thing
from acceptance.faults.load import Load
from acceptance.process import RunningTraceline, fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.waiting import eventually

DAMAGE: dict[str, tuple[str, LiteralString, str]] = {
    "content": ("catalog", "UPDATE requirements SET title = 'x'", "and must be"),
    "copy of the items": ("suggestion", "UPDATE items SET module = 'x' WHERE NOT deleted", "copy of the items says"),
    "copy of the links": ("suggestion", "DELETE FROM linked_pairs", "copy of the links lacks"),
    "copy of the users": ("notification", "DELETE FROM recipients", "copy of the users lacks"),
    "coverage": ("catalog", "UPDATE coverage_state SET covered_requirements = 0", "coverage is judged by"),
    "score of a link": ("catalog", "UPDATE links SET confidence_score = 0.01", "is accepted as another link"),
    "acceptance": (
        "catalog",
        "UPDATE accepted_suggestions SET suggestion_id = gen_random_uuid()",
        "was made of a suggestion that is not accepted",
    ),
    "place in the feed": ("catalog", "DELETE FROM outbox WHERE feed_seq = 1", "the feed of catalog has gaps"),
    "event of a link": (
        "catalog",
        "DELETE FROM outbox WHERE wire_name = 'catalog.link.created'",
        "is there, and was told created 0 times",
    ),
    "event of a review": (
        "suggestion",
        "DELETE FROM outbox WHERE wire_name = 'suggestion.suggestion.reviewed'",
        "what was told of reviews does not lead to",
    ),
    "notification": ("notification", "DELETE FROM notifications WHERE user_id % 2 = 0", "times too few"),
    "notification to another": (
        "notification",
        "UPDATE notifications SET user_id = user_id + 1000",
        "times too often",
    ),
    "audit entry twice": (
        "notification",
        "INSERT INTO audit_entries (occurred_at, actor, action, resource_type, resource_id, summary, request_id)"
        " SELECT occurred_at, actor, action, resource_type, resource_id, summary, request_id FROM audit_entries",
        "x too often",
    ),
    "parked event": (
        "notification",
        "INSERT INTO inbox_failures (event_id, wire_name, message, error, attempts, next_attempt_at, parked_at)"
        " VALUES (gen_random_uuid(), 'x', '', 'broken', 8, now(), now())",
        "notification keeps back x: broken",
    ),
    "inbox": ("notification", "DELETE FROM inbox", "notification has never applied"),
}
"""By what is damaged: in which service, how, and what is said of it."""


class Embedded(RunningTraceline):
    """The same services and databases, started in a second."""

    def database_url(self, service: str) -> str:
        # Where the server listens is in the lines of its lock file: port, then folder of the socket.
        lines = (self.data_dir / "postgresql" / "postmaster.pid").read_text().splitlines()
        return f"host={lines[4]} port={lines[3]} user=postgres dbname={service.replace('-', '_')}"


@pytest.fixture(scope="module")
def found() -> Iterator[list[str]]:
    """What the invariants say of a Traceline that held them, after all of the damage."""
    history = History()
    with fresh_folder() as place, Embedded(place) as server, Traceline(server.base_url) as anyone:
        admin = anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        with Load(admin, history, pace=0.0) as load:
            load.acknowledges(200)
            eventually(lambda: len(made_links(history)) > 2, "links of accepted suggestions")
        invariants.hold(server, admin, history)
        heads = drained(server)
        for service, statement, _ in DAMAGE.values():
            with psycopg.connect(server.database_url(f"{service}-service")) as connection:
                assert connection.execute(statement).rowcount > 0
        yield invariants.violations(server, admin, history, heads)


def made_links(history: History) -> list[Thing]:
    links = [thing for thing in history.of_kind("link") if thing.is_there]
    return [link for link in links if link.content["link_source"] == "ai_confirmed"]


@pytest.mark.parametrize("damaged", DAMAGE)
def test_they_see_the_damage(found: list[str], damaged: str) -> None:
    _, _, said = DAMAGE[damaged]
    assert [line for line in found if said in line]


def test_answers_that_nobody_may_get_are_violations() -> None:
    history = History()
    for status, headers in ((500, {}), (503, {"Retry-After": "1"}), (502, {})):
        response = httpx.Response(status, headers=headers, text="oops", request=httpx.Request("GET", "http://x/y"))
        history.answered(1, "reading", 0.0, response)
    history.unanswered(1, "reading", 0.0, httpx.ReadTimeout("in vain"))
    assert len(history.violations) == 4
