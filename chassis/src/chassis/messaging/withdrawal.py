"""Takes the events of a deleted project out of the service's feed, whose places stay as they are.

Of what is pruned already nothing is left. Of every later event its place is, by another type and without what it told:
consumers need each place, and have no use for these.
"""

from chassis.db.database import Database
from chassis.messaging import outbox

_AT_ONCE = 1000
_THING = "event.withdrawn"

# Row-level security leaves the project's own.
_LAST = f"""
SELECT max(feed_seq) AS last FROM (
    SELECT feed_seq FROM outbox WHERE feed_seq > %(after)s AND wire_name NOT LIKE '%%.{_THING}'
    ORDER BY feed_seq LIMIT %(most)s
) AS event
"""
_REMOVE = """
WITH gone AS (
    DELETE FROM outbox WHERE feed_seq > %(after)s AND feed_seq <= least(%(last)s, (SELECT position FROM feed_pruning))
    RETURNING feed_seq
), forgotten AS (
    DELETE FROM feed_latest USING gone WHERE feed_latest.feed_seq = gone.feed_seq
)
SELECT FROM gone
"""
_EMPTY = f"""
UPDATE outbox SET wire_name = named,
    envelope = (envelope::jsonb || jsonb_build_object('type', named, 'data', '{{}}'::json))::text
FROM (SELECT feed_seq, split_part(wire_name, '.', 1) || '.{_THING}' AS named FROM outbox
    WHERE feed_seq > %(after)s AND feed_seq <= %(last)s AND wire_name NOT LIKE '%%.{_THING}') AS event
WHERE outbox.feed_seq = event.feed_seq
"""


def wire_name(source: str) -> str:
    """Return the type of a source's events that were withdrawn."""
    return f"{source}.{_THING}"


async def withdraw(database: Database) -> int:
    """Withdraw the events of the current project, some at a time; return how many there were."""
    await outbox.number(database)
    withdrawn, after = 0, 0
    while True:
        async with database.transaction() as connection:
            row = await (await connection.execute(_LAST, {"after": after, "most": _AT_ONCE})).fetchone()
            assert row is not None, "an aggregate gives one row"
            last: int | None = row["last"]
            if last is None:
                return withdrawn
            for statement in (_REMOVE, _EMPTY):
                withdrawn += (await connection.execute(statement, {"after": after, "last": last})).rowcount
        after = last
