"""Waiting until everything that was begun is finished, everywhere."""

import time
from typing import LiteralString

import psycopg

from acceptance.faults.databases import FOLLOWERS, SERVICES, SOURCES, System, query, value

Heads = dict[str, int]


def drained(system: System, *, within: float = 300.0) -> Heads:
    """Wait until nothing is under way any more; return the heads of the feeds.

    Raises:
        AssertionError: something is still under way after so many seconds; the message says what.
    """
    end = time.monotonic() + within
    before: Heads | None = None
    while True:
        try:
            heads, open_ends = look(system)
        except psycopg.OperationalError as error:
            heads, open_ends = {}, [f"a database does not answer: {error}"]
        # Twice the same: between two looks nothing was told anew.
        if not open_ends and heads == before:
            return heads
        before = heads if not open_ends else None
        assert time.monotonic() < end, f"Not drained within {within:g} s:\n" + "\n".join(open_ends or ["still moving"])
        time.sleep(0.3)


def look(system: System) -> tuple[Heads, list[str]]:
    """The heads of the feeds, and what is still under way, a line each."""
    heads: Heads = {}
    found: list[str] = []
    for source in SOURCES:
        (row,) = query(
            system,
            source,
            "SELECT head, (SELECT position FROM relay_position) AS published,"
            " (SELECT count(*) FROM outbox WHERE feed_seq IS NULL) AS unnumbered FROM feed_head",
        )
        heads[source] = row["head"]
        if row["unnumbered"]:
            found.append(f"{source}: {row['unnumbered']} events without a place in the feed")
        if row["published"] != row["head"]:
            found.append(f"{source}: published up to {row['published']} of {row['head']}")
    for follower, sources in FOLLOWERS.items():
        positions = {row["source"]: row["position"] for row in query(system, follower, "SELECT * FROM inbox_positions")}
        found += [
            f"{follower}: received {source} up to {positions.get(source, 0)} of {heads[source]}"
            for source in sources
            if positions.get(source, 0) != heads[source]
        ]
    for service, what, statement in _UNDER_WAY:
        if waiting := value(system, service, statement):
            found.append(f"{service}: {waiting} {what}")
    judged = value(system, "catalog", "SELECT max(position) FROM coverage_state")
    if judged != heads["catalog"]:
        found.append(f"catalog: coverage judged up to {judged} of {heads['catalog']}")
    return heads, found


_KEPT = "SELECT count(*) FROM inbox_failures WHERE parked_at IS NULL"
_UNDER_WAY: list[tuple[str, str, LiteralString]] = [
    *((service, "events wait to be tried again", _KEPT) for service in SERVICES),
    ("suggestion", "items wait to be scored", "SELECT count(*) FROM scoring_queue"),
    ("suggestion", "acceptances are begun and not finished", "SELECT count(*) FROM accept_intents"),
    ("suggestion", "reviews are being undone", "SELECT count(*) FROM undo_intents"),
    (
        "suggestion",
        "runs are not finished",
        "SELECT count(*) FROM runs WHERE status IN ('queued', 'running')",
    ),
]
