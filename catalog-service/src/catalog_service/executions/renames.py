"""Which automated tests may be new names of gone ones: of their class, later, with half of the words the same.

And which do not say by themselves which test case they are of.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from chassis.db.database import Connection
from chassis.db.rows import fetch_all

_GONE_AFTER = 3
"""A test is gone when so many runs of its branch have not had it."""
_TELLING = 50
"""A word that more gone tests of a class have than these finds no pair: it would find each with all of them."""
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

# Without a class, suite and file stand for it, as in fingerprints.
_SUITE, _FILE = (f"CASE t.class_name WHEN '' THEN t.{name} ELSE '' END" for name in ("suite", "file"))
_CLASS = f"t.class_name, {_SUITE}, {_FILE}"
_COLUMNS = f"t.id, t.class_name, {_SUITE} AS suite, {_FILE} AS file, t.name, t.first_seen, t.last_seen"
_TESTS = "automated_tests t WHERE NOT t.is_manual AND t.merged_into IS NULL"
# First whether a class has later tests at all: to ask for the last run of each test takes longest.
_GONE = f"""
    WITH gone_before AS MATERIALIZED (
        SELECT c.id AS context_id, (
            SELECT r.at FROM run_lanes l JOIN test_runs r ON r.id = l.run_id WHERE l.context_id = c.id
            ORDER BY r.at DESC OFFSET {_GONE_AFTER - 1} LIMIT 1) AS at
        FROM run_contexts c
    ), may_be_gone AS MATERIALIZED (
        SELECT {_COLUMNS} FROM {_TESTS} AND t.last_seen < (SELECT max(at) FROM gone_before)
        AND ({_CLASS}) IN (SELECT {_CLASS} FROM {_TESTS} GROUP BY 1, 2, 3 HAVING max(t.first_seen) > min(t.last_seen))
    )
    SELECT t.id, t.class_name, t.suite, t.file, t.name, t.first_seen, last.at AS last_seen
    FROM may_be_gone t CROSS JOIN LATERAL (
        SELECT e.context_id, e.at FROM executions e WHERE e.test_id = t.id ORDER BY e.at DESC LIMIT 1) AS last
    WHERE last.at < (SELECT at FROM gone_before WHERE context_id = last.context_id)
"""
# What names its test case by itself goes on with its history under any name.
_LATER = f"""
    SELECT {_COLUMNS} FROM {_TESTS} AND t.class_name = ANY(%s) AND t.first_seen > %s AND NOT EXISTS (
        SELECT FROM automated_test_cases c WHERE c.test_id = t.id AND c.matched_by IN ('named', 'name'))
"""


class NamedTest(NamedTuple):
    """A test, and when runs had it."""

    id: int
    class_name: str
    suite: str
    file: str
    name: str
    first_seen: datetime
    last_seen: datetime

    @property
    def words(self) -> frozenset[str]:
        """The words of its name: `opensDoor`, `opens_door` and `Opens door` have the same."""
        return frozenset(_WORD.findall(_HUMP.sub(" ", self.name).lower()))


async def read(connection: Connection) -> dict[int, int]:
    """Return the ids of tests that may be new names, each with the id of the test that it is most like."""
    gone = await fetch_all(connection, NamedTest, _GONE)
    if not gone:
        return {}
    classes = [*{test.class_name for test in gone}]
    later = await fetch_all(connection, NamedTest, _LATER, (classes, min(test.last_seen for test in gone)))
    return await asyncio.to_thread(pairs, gone, later)


def pairs(gone: Iterable[NamedTest], later: Iterable[NamedTest]) -> dict[int, int]:
    """Return those of `later` that may be new names of a gone test, each with the one that shares most words with it.

    Of several, the one that ran last.
    """
    known = {test.id: (test, test.words) for test in gone}
    having: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for test, words in known.values():
        for word in words:
            having[test.class_name, test.suite, test.file, word].append(test.id)
    found = {}
    for test in later:
        words = test.words
        lists = [having.get((test.class_name, test.suite, test.file, word), ()) for word in words]
        alike = []
        for former_id in {one for ids in lists if len(ids) <= _TELLING for one in ids}:
            former, others = known[former_id]
            shared = len(words & others)
            if former.last_seen < test.first_seen and 2 * shared >= max(len(words), len(others)):
                alike.append((shared, former.last_seen, -former_id))
        if alike:
            found[test.id] = -max(alike)[2]
    return found
