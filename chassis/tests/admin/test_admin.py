"""The operator's command, as a process, over a real database."""

import asyncio
import os
from typing import Any

import orjson
import pytest
from happenings import POISON, Happened, apply, apply_all, effects, record

from chassis.db.database import Database
from chassis.messaging import outbox
from chassis.messaging.bus.in_process import InProcessBus
from chassis.messaging.events import SYSTEM, NewEvent, sequenced
from chassis.messaging.inbox import Inbox
from chassis.messaging.payloads import Payload
from chassis.messaging.relay import Relay
from testing import commands
from testing.internal import FOLLOWER, KEYS


class Unfit(Payload):
    """What another version of the software would tell by the same name."""

    wire_name = Happened.wire_name
    what: int


def inbox(database: Database) -> Inbox:
    return Inbox("test", database, {Happened: apply})


def mended_inbox(database: Database) -> Inbox:
    return Inbox("test", database, {Happened: apply_all})


def event(sequence: int, what: Any, kind: type[Any] = Happened) -> bytes:
    return sequenced(sequence, NewEvent(kind(what=what), "1", SYSTEM).envelope())


async def admin(database: Database, *words: str, typed: str = "", **environment: str) -> tuple[int, str, str]:
    """Run the command over this database; return its exit code, standard output and standard error."""
    known = {name: value for name, value in os.environ.items() if not name.endswith("_URL") and name != "SECRETS_DIR"}
    known |= {"DATABASE_URL": database.url, **environment}
    return await asyncio.to_thread(commands.run, "chassis.admin", words, known, typed=typed)


async def admin_json(database: Database, *words: str, **environment: str) -> Any:
    code, output, errors = await admin(database, *words, **environment)
    assert code == 0, errors
    return orjson.loads(output)


async def done(database: Database, *words: str) -> str:
    code, output, errors = await admin(database, *words)
    assert code == 0, errors
    return output


async def test_kept_messages_are_listed_for_people_with_the_first_line_of_their_error(database: Database) -> None:
    await inbox(database).receive([event(1, "fine"), event(2, POISON), event(3, 7, Unfit), b"{ no JSON"])

    lines = (await done(database, "parked", "list")).splitlines()

    state = lines[0].index("STATE")
    unreadable, poison, unfit = lines[1:]
    assert "(unreadable)" in unreadable
    assert unreadable[state:].startswith("parked")
    assert "test.thing.happened" in poison
    assert poison[state:].startswith("waiting")
    assert poison.endswith("RuntimeError: this one never works")
    assert "test.thing.happened" in unfit
    assert "Not a " in unfit


async def test_programs_get_json_and_one_message_can_be_read_whole(database: Database) -> None:
    await inbox(database).receive([event(1, POISON), b"\xff no JSON"])

    kept = await admin_json(database, "parked", "list", "--json")
    by_name = {row["wire_name"]: row for row in kept}
    assert by_name["test.thing.happened"]["state"] == "waiting"
    assert by_name[""]["state"] == "parked"

    whole = await admin_json(database, "parked", "show", str(by_name["test.thing.happened"]["id"]))
    assert whole["message"]["data"] == {"what": POISON}
    assert whole["error"].splitlines()[1] == "because it is poison"
    assert (await admin_json(database, "parked", "show", str(by_name[""]["id"])))["message"] == "\\xff no JSON"


async def test_a_parked_event_is_applied_once_the_handler_is_mended_and_it_is_retried(database: Database) -> None:
    await inbox(database).receive([event(1, "fine"), event(2, POISON)])
    (kept,) = await admin_json(database, "parked", "list", "--json")
    async with database.connection() as connection:
        await connection.execute("UPDATE inbox_failures SET parked_at = now(), attempts = 8")

    mended = mended_inbox(database)
    await mended.retry_due()
    assert await effects(database) == ["fine"]

    assert "1 message" in await done(database, "parked", "retry", str(kept["id"]))
    await mended.retry_due()
    assert await effects(database) == ["fine", POISON]
    assert await admin_json(database, "parked", "list", "--json") == []


async def test_a_parked_event_that_is_sent_again_to_mended_software_is_applied_and_kept_no_more(
    database: Database,
) -> None:
    sent = [event(1, POISON), event(2, "fine")]
    await inbox(database).receive(sent)
    await mended_inbox(database).receive(sent)
    assert await effects(database) == ["fine", POISON]
    assert await admin_json(database, "parked", "list", "--json") == []


async def test_a_message_that_nobody_can_read_is_parked_again_at_once(database: Database) -> None:
    await inbox(database).receive([b"{ no JSON"])
    await done(database, "parked", "retry", "--all")
    await inbox(database).retry_due()
    (kept,) = await admin_json(database, "parked", "list", "--json")
    assert (kept["state"], kept["attempts"]) == ("parked", 1)


async def test_a_dropped_event_is_logged_and_never_applied_and_nothing_waits_behind_it(database: Database) -> None:
    unfit = event(2, 54321, Unfit)
    await inbox(database).receive([event(1, "fine"), unfit])
    (kept,) = await admin_json(database, "parked", "list", "--json")

    code, output, log = await admin(database, "parked", "drop", str(kept["id"]), "--yes")
    assert (code, output) == (0, "Dropped 1 message.\n")
    assert kept["event_id"] in log
    assert "54321" in log

    mended = mended_inbox(database)
    await mended.receive([unfit, event(3, "later")])
    assert await effects(database) == ["fine", "later"]
    assert await mended.position("test") == 3
    assert await admin_json(database, "parked", "list", "--json") == []


async def test_dropping_asks_first(database: Database) -> None:
    await inbox(database).receive([event(1, POISON)])
    (kept,) = await admin_json(database, "parked", "list", "--json")
    code, _, _ = await admin(database, "parked", "drop", str(kept["id"]), typed="n\n")
    assert code == 1
    assert len(await admin_json(database, "parked", "list", "--json")) == 1
    code, _, _ = await admin(database, "parked", "drop", str(kept["id"]), typed="y\n")
    assert code == 0
    assert await admin_json(database, "parked", "list", "--json") == []


@pytest.mark.parametrize("command", ["show", "retry", "drop"])
async def test_an_unknown_id_is_one_sentence_and_nothing_is_changed(database: Database, command: str) -> None:
    await inbox(database).receive([event(1, POISON)])
    (kept,) = before = await admin_json(database, "parked", "list", "--json")
    ids = ["999"] if command == "show" else [str(kept["id"]), "999"]
    code, output, errors = await admin(database, "parked", command, *ids, *(["--yes"] if command == "drop" else []))
    assert (code, output) == (1, "")
    assert errors == "Error: No message is kept as 999; `parked list` shows those that are.\n"
    after = await admin_json(database, "parked", "list", "--json")
    assert [row["next_attempt_at"] for row in after] == [row["next_attempt_at"] for row in before]


async def test_the_feed_shows_its_head_and_how_far_the_relay_is(database: Database) -> None:
    bus = InProcessBus()
    await bus.start()
    await record(database, "a", "b")
    await Relay(database, bus).publish_waiting()
    shown = await admin_json(database, "feed", "--json")
    whole = {"pruned": 0, "consumers": []}
    at_rest = {"head": 2, "unnumbered": 0, "relay_position": 2, "lag": 0, "lag_seconds": None}
    assert shown["feed"] == at_rest | whole

    await record(database, "c")
    await outbox.number(database)
    await record(database, "d", "e")
    shown = await admin_json(database, "feed", "--json")
    assert 0 <= shown["feed"].pop("lag_seconds") < 60
    assert shown["feed"] == {"head": 3, "unnumbered": 2, "relay_position": 2, "lag": 3} | whole
    assert shown["inbox"] == []


async def test_positions_are_shown_also_where_the_head_cannot_be_asked_for(database: Database) -> None:
    await inbox(database).receive([event(1, "a"), event(2, POISON)])
    output = await done(database, "feed")
    assert "TEST_URL is not set" in output
    assert "1 waiting to be tried again, 0 parked" in output
    shown = await admin_json(
        database,
        "feed",
        "--json",
        TEST_URL="http://127.0.0.1:1",
        INTERNAL_SIGNING_KEY=KEYS[FOLLOWER],
    )
    assert shown["inbox"] == [
        {
            "source": "test",
            "position": 2,
            "head": None,
            "lag": None,
            "lag_seconds": None,
            "problem": "test-service does not answer right now; try again.",
        }
    ]


async def test_a_feed_is_read_again_from_its_beginning(database: Database) -> None:
    consumer = inbox(database)
    await consumer.receive([event(1, "a"), event(2, "b")])
    assert "received up to event 2" in await done(database, "reread", "test")
    assert await consumer.position("test") == 0
    code, _, errors = await admin(database, "reread", "nobody")
    assert code == 1
    assert errors == "Error: Nothing of nobody was ever received here; `feed` shows whose events were.\n"


async def test_a_replay_publishes_again_and_consumers_drop_what_they_know(
    database: Database, other_database: Database
) -> None:
    bus = InProcessBus()
    consumer = inbox(other_database)
    arrived: list[int] = []

    async def deliver(batch: Any) -> None:
        arrived.append(len(batch))
        await consumer.receive(batch)

    bus.subscribe("test", consumer.sources, deliver)
    await bus.start()
    await record(database, "a", "b", "c")
    relay = Relay(database, bus)
    await relay.publish_waiting()

    assert "2 published before" in await done(database, "replay", "--after", "1")
    await relay.publish_waiting()

    assert arrived == [3, 2]
    assert await effects(other_database) == ["a", "b", "c"]


async def test_a_replay_never_passes_over_what_was_not_published(database: Database) -> None:
    await record(database, "a", "b")
    code, _, errors = await admin(database, "replay", "--after", "1")
    assert code == 1
    assert errors == "Error: The relay has published up to event 0: give --after from 0 to 0.\n"


async def test_a_setting_may_be_a_file_and_a_wrong_one_is_one_sentence_without_a_secret(
    database: Database, tmp_path: Any
) -> None:
    (tmp_path / "database_url").write_text(database.url)
    empty = {"SECRETS_DIR": str(tmp_path)}
    code, output, errors = await admin_without_url(empty)
    assert (code, output, errors) == (0, "[]\n", "")

    code, _, errors = await admin_without_url({})
    assert (code, errors) == (1, "Error: The setting DATABASE_URL is missing.\n")

    wrong = "postgresql://somebody:geheim@127.0.0.1:1/nothing?connect_timeout=2"
    code, _, errors = await admin_without_url({"DATABASE_URL": wrong})
    assert code == 1
    assert errors.startswith("Error: DATABASE_URL does not open the database:")
    assert errors.count("\n") == 1
    assert "geheim" not in errors


async def admin_without_url(environment: dict[str, str]) -> tuple[int, str, str]:
    known = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "SECRETS_DIR"}}
    return await asyncio.to_thread(commands.run, "chassis.admin", ("parked", "list", "--json"), known | environment)


@pytest.mark.usefixtures("database")  # the server has roles since one of its databases was migrated
async def test_a_database_that_is_no_service_s_is_told_as_that(postgres: Any) -> None:
    code, _, errors = await admin_without_url({"DATABASE_URL": postgres.empty_database()})
    assert code == 1
    assert errors.startswith("Error: This is not the database of such a service")


async def test_a_package_without_a_copy_is_not_rebuilt(database: Database) -> None:
    code, _, errors = await admin(database, "rebuild", "chassis.web")
    assert code == 1
    assert errors == (
        "Error: chassis.web is no service that keeps a copy: there is no module chassis.web.read_model.\n"
    )
