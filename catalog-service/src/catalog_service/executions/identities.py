"""Brings tests that are stored to the normal form of what they are called, with all that they have done.

Those that are the same test by that become one. It happens once in each project for each form, before the first results
that come by it: until then nothing is missing under its old name, nor twice there.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from catalog_service.executions import merging
from catalog_service.executions.names import fingerprints
from catalog_service.executions.normal_forms import FORM, Identity, normalise_name
from catalog_service.executions.stored_names import normalise
from chassis.db.database import Connection
from chassis.db.rows import fetch_value

_AT_ONCE = 5000


class _Stored(NamedTuple):
    id: int
    class_name: str
    name: str
    suite: str
    file: str
    is_merged: bool
    last_seen: datetime

    @property
    def place(self) -> str:
        """What its name says of where it stands in its file, if that is no part of it."""
        return normalise_name(self.class_name, self.name).place


class _Renamed(NamedTuple):
    """Stored tests that are one by their normal form."""

    identity: Identity
    fingerprint: bytes
    tests: list[_Stored]

    @property
    def is_doubtful(self) -> bool:
        """Whether these may be several tests, of which names alone say where in a file they stand."""
        return len({test.place for test in self.tests}) > 1


async def bring_up(connection: Connection) -> None:
    """Bring all tests of the project to the normal form, in the caller's transaction, unless they have it."""
    if await _has_form(connection):
        return
    await connection.execute(
        "SELECT pg_advisory_xact_lock(hashtext('names of tests in ' || current_setting('traceline.project', true)))"
    )
    if await _has_form(connection):
        return
    # Once, and of a large record it takes half a minute.
    await connection.execute("SELECT set_config('statement_timeout', '15min', true)")
    renamed = await _read_renamed(connection)
    for start in range(0, len(renamed), _AT_ONCE):
        await _rename(connection, renamed[start : start + _AT_ONCE])
    await connection.execute(
        "INSERT INTO forms_of_names AS known (form) VALUES (%s) ON CONFLICT (project_id) DO UPDATE"
        " SET form = excluded.form",
        (FORM,),
    )


async def adopt(connection: Connection) -> None:
    """Give the tests of a file the histories that they have by names which only a report can tell to be theirs."""
    cursor = await connection.execute(
        """
        SELECT (array_agg(former))[1] AS former, fingerprint, min(class_name) AS class_name, min(name) AS name,
               min(suite) AS suite, min(file) AS file
        FROM incoming WHERE former <> fingerprint GROUP BY fingerprint
        HAVING count(DISTINCT former) = 1 AND NOT (array_agg(former))[1] IN (SELECT fingerprint FROM incoming)
        """
    )
    rows = await cursor.fetchall()
    # What two tests were called by may be the history of either, and what a test is called by is its own.
    times = Counter(row["former"] for row in rows)
    by_former = {row["former"]: row for row in rows if times[row["former"]] == 1}
    cursor = await connection.execute(
        "SELECT id, class_name, name, suite, file, merged_into IS NOT NULL AS is_merged, last_seen, fingerprint"
        " FROM automated_tests WHERE fingerprint = ANY(%s) AND NOT is_manual ORDER BY fingerprint",
        (list(by_former),),
    )
    renamed = []
    for stored in await cursor.fetchall():
        row = by_former[stored.pop("fingerprint")]
        if stored["file"].replace("\\", "/").endswith(row["file"]):
            identity = Identity(*(row[column] for column in Identity._fields))
            renamed.append(_Renamed(identity, row["fingerprint"], [_Stored(**stored)]))
    if renamed:
        await _rename(connection, renamed)


async def _has_form(connection: Connection) -> bool:
    return bool(await fetch_value(connection, "SELECT EXISTS (SELECT FROM forms_of_names WHERE form >= %s)", (FORM,)))


async def _read_renamed(connection: Connection) -> list[_Renamed]:
    found: dict[bytes, _Renamed] = {}
    async with connection.cursor("names") as cursor:
        await cursor.execute(
            "SELECT id, class_name, name, suite, file, merged_into IS NOT NULL AS is_merged, last_seen"
            " FROM automated_tests WHERE NOT is_manual"
        )
        while rows := await cursor.fetchmany(_AT_ONCE):
            await asyncio.to_thread(_add, found, [_Stored(**row) for row in rows])
    return [one for one in found.values() if not one.is_doubtful]


def _add(found: dict[bytes, _Renamed], stored: Iterable[_Stored]) -> None:
    for test in stored:
        known_by = Identity(test.class_name, test.name, test.suite, test.file)
        identity = normalise(known_by)
        # Without a class, or with one, as fingerprints take it.
        if identity[:2] == known_by[:2] and (test.class_name or identity == known_by):
            continue
        hashed = fingerprints(identity.class_name, identity.suite, identity.file)
        hashed.update(identity.name.encode("utf-8", "replace"))
        found.setdefault(hashed.digest(), _Renamed(identity, hashed.digest(), [])).tests.append(test)


async def _rename(connection: Connection, renamed: list[_Renamed]) -> None:
    """Give tests their new names; those of which another has the name already, or gets it, are merged into that."""
    cursor = await connection.execute(
        "SELECT fingerprint, coalesce(merged_into, id) AS counts_as FROM automated_tests WHERE fingerprint = ANY(%s)",
        ([one.fingerprint for one in renamed],),
    )
    known: dict[bytes, int] = {row["fingerprint"]: row["counts_as"] for row in await cursor.fetchall()}
    merges: dict[int, list[int]] = defaultdict(list)
    moved = []
    for one in renamed:
        if one.fingerprint in known and one.tests[0].place:
            continue  # another place of its file may have the name
        # A name that a person has merged into another test leads there still, unless a test has it by itself.
        by_age = sorted(one.tests, key=lambda test: (test.is_merged, -test.last_seen.timestamp(), test.id))
        into = known.get(one.fingerprint)
        if into is None:
            first, *by_age = by_age
            moved.append((first.id, one))
            into = first.id
        merges[into] += [test.id for test in by_age if not test.is_merged and test.id != into]
    await connection.execute(
        """
        UPDATE automated_tests t SET fingerprint = new.fingerprint, class_name = new.class_name, name = new.name,
            suite = new.suite, file = new.file
        FROM unnest(%s::bigint[], %s::bytea[], %s::text[], %s::text[], %s::text[], %s::text[])
            AS new (id, fingerprint, class_name, name, suite, file) WHERE new.id = t.id
        """,
        (
            [id_ for id_, _ in moved],
            [one.fingerprint for _, one in moved],
            *([one.identity[column] for _, one in moved] for column in range(4)),
        ),
    )
    await merging.merge_all(connection, {into: others for into, others in merges.items() if others})
