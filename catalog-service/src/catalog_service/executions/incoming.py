"""The results of a file on their way into the record: temporary tables that end with the transaction.

`incoming` has a row a result, `incoming_tests` a row a test, `incoming_matches` a row a test case that a test names.
"""

from collections.abc import AsyncIterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from catalog_service.executions.read import COLUMNS, FAILED, FLAKY, NAMES, PASSED, SKIPPED
from chassis.db.database import Connection
from chassis.db.rows import fetch_column, fetch_only


@dataclass(frozen=True, slots=True)
class Matched:
    """How many tests of a file were matched how, and ids that it names and nothing has."""

    tests: int
    matched: int
    unknown: int
    ambiguous: int


async def receive(connection: Connection, rows: AsyncIterable[bytes]) -> None:
    """Put the rows of a reader into the temporary table `incoming`, which ends with the transaction."""
    # What does not fit is sorted and grouped on disk, at twice the time.
    await connection.execute("SET LOCAL work_mem = '64MB'")
    await connection.execute(
        """
        CREATE TEMP TABLE incoming (
            position integer, fingerprint bytea, class_name text, name text, suite text, file text, iteration text,
            outcome text, is_attempt boolean, duration_ms bigint, message text, trace text,
            named json, tagged json, guessed json, requirements json, maybe_requirements json,
            former bytea
        ) ON COMMIT DROP
        """
    )
    async with connection.cursor().copy(f"COPY incoming ({COLUMNS}) FROM STDIN") as copy:
        async for block in rows:
            await copy.write(block)
    await connection.execute("ANALYZE incoming (fingerprint)")


async def keep_last_attempts(connection: Connection, *, every: bool) -> None:
    """Leave of several attempts of a test the last that ran it; `every`: whatever comes several times is attempts."""
    await connection.execute(
        f"""
        WITH attempts AS (
            SELECT position, outcome, coalesce(max(position) FILTER (WHERE outcome <> '{SKIPPED}') OVER whole,
                       max(position) OVER whole) AS last,
                   bool_or(outcome IN ('{FLAKY}', '{FAILED}')) OVER whole AS failed
            FROM incoming WHERE is_attempt OR %(every)s
            WINDOW whole AS (PARTITION BY fingerprint, iteration ORDER BY position
                             ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
        ), earlier AS (
            DELETE FROM incoming USING attempts
            WHERE incoming.position = attempts.position AND attempts.position <> attempts.last
        )
        UPDATE incoming SET outcome = '{FLAKY}' FROM attempts
        WHERE incoming.position = attempts.position AND attempts.position = attempts.last
        AND attempts.failed AND attempts.outcome = '{PASSED}'
        """,
        {"every": every},
    )


async def count(connection: Connection) -> dict[str, int]:
    """Return how many results there are, and how many of them ended how."""
    cursor = await connection.execute("SELECT outcome, count(*) AS times FROM incoming GROUP BY outcome")
    times = {row["outcome"]: row["times"] for row in await cursor.fetchall()}
    return {"results": sum(times.values()), **{name: times.get(outcome, 0) for outcome, name in NAMES.items()}}


_KEY = "CASE i.iteration WHEN '' THEN '' ELSE to_hex(hashtextextended(i.iteration, 0)) END"
"""What an iteration `i` of a test is known by among others, also where the names of these take much space."""


async def gather(connection: Connection, job: str) -> None:
    """Make of the results one row a test, in the temporary table `incoming_tests`: what outweighs counts.

    A test that is new has the id there that it is to have. All that is stored later follows this order, since rows in
    the order of an index are quickest to add. `job` tells iterations apart from those that other jobs of the lane ran.
    """
    await connection.execute(
        f"""
        CREATE TEMP TABLE incoming_tests ON COMMIT DROP AS
        SELECT i.*, coalesce(t.merged_into, t.id, nextval('automated_tests_id_seq')) AS test_id, t.id IS NULL AS is_new,
               NULL AS matched_by, iterations.outcomes AS iterations
        FROM (
            SELECT fingerprint, min(class_name) AS class_name, min(name) AS name, min(suite) AS suite,
                   min(file) AS file, min(nullif(iteration, '') COLLATE "C") AS full_name, max(outcome) AS outcome,
                   (CASE WHEN sum(duration_ms) > 2147483647 THEN 2147483647 ELSE sum(duration_ms) END)::integer
                       AS duration_ms
            FROM incoming GROUP BY fingerprint ORDER BY fingerprint
        ) AS i LEFT JOIN automated_tests t USING (fingerprint) LEFT JOIN (
            SELECT fingerprint, jsonb_object_agg(key, outcome) AS outcomes FROM (
                SELECT i.fingerprint, max(i.outcome) AS outcome, {_KEY}
                       || CASE %(job)s::text WHEN '' THEN '' ELSE '.' || to_hex(hashtextextended(%(job)s, 0)) END AS key
                FROM incoming i WHERE %(job)s::text <> '' OR i.fingerprint IN (
                    SELECT fingerprint FROM incoming WHERE iteration <> '')
                GROUP BY i.fingerprint, key
            ) AS named GROUP BY fingerprint
        ) AS iterations USING (fingerprint)
        """,
        {"job": job},
    )
    await connection.execute("ANALYZE incoming_tests (fingerprint, test_id, is_new)")


_MOST_TOLD = 100
_MOST_NAMED = 3
_IS_ID = "word ~ '^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$'"
NAMED_TEST_CASES = f"""
    SELECT id FROM test_cases WHERE external_id = word
    UNION SELECT id FROM test_cases WHERE id = CASE WHEN {_IS_ID} THEN word::uuid END
"""
"""The test cases that a `word` names: one or none, each way by its index, which a join on either would not use."""


_NAMING = f"array_agg(DISTINCT {_KEY})"
"""The iterations that name a test case, whichever job ran them."""


def _found(column: str, matched_by: str, also: str = "") -> str:
    """Return the query of the test cases that the words of a column of `incoming i` name."""
    return f"""
        SELECT i.fingerprint, t.id AS test_case_id, '{matched_by}' AS matched_by, {_NAMING} AS iterations
        FROM incoming i CROSS JOIN LATERAL json_array_elements_text(i.{column}) AS word
        CROSS JOIN LATERAL ({NAMED_TEST_CASES}) AS t
        WHERE i.{column} IS NOT NULL {also} GROUP BY i.fingerprint, t.id"""


async def match(connection: Connection) -> list[str]:
    """Find the test cases that results name, in the temporary table `incoming_matches`; return ids that nothing has.

    What properties and tags name counts together, and what a name may mean where no property names one; all that before
    an automation id, which one test may have for several test cases: then it has none, and is `ambiguous`.
    """
    await connection.execute(f"CREATE TEMP TABLE incoming_matches ON COMMIT DROP AS {_found('named', 'named')}")
    unknown_ids = await _match_alike(connection, await _unknown_ids(connection))
    of_others = "AND NOT EXISTS (SELECT FROM incoming_matches m WHERE m.fingerprint = i.fingerprint)"
    await connection.execute(f"INSERT INTO incoming_matches {_found('guessed', 'name', of_others)}")
    # Last: what a tag names takes nothing from what a name does.
    await connection.execute(f"INSERT INTO incoming_matches {_found('tagged', 'named')}")
    return unknown_ids[:_MOST_TOLD]


async def _unknown_ids(connection: Connection) -> list[str]:
    return await fetch_column(
        connection,
        f"""
        SELECT DISTINCT word FROM incoming i CROSS JOIN LATERAL json_array_elements_text(i.named) AS word
        WHERE i.named IS NOT NULL AND NOT EXISTS ({NAMED_TEST_CASES}) ORDER BY word
        """,
    )


async def _match_alike(connection: Connection, words: list[str]) -> list[str]:
    """Match `@TC-1`, `[TC-1]` and `tc-1` with the test case TC-1, where one alone is called so; return what is left."""
    if not words:
        return []
    cursor = await connection.execute(
        """
        SELECT word, min(t.id::text)::uuid AS id FROM unnest(%s::text[]) AS word
        JOIN test_cases t ON lower(t.external_id) = lower(btrim(word, '@[]')) GROUP BY word HAVING count(*) = 1
        """,
        (words,),
    )
    alike: dict[str, UUID] = {row["word"]: row["id"] for row in await cursor.fetchall()}
    await connection.execute(
        f"""
        INSERT INTO incoming_matches SELECT i.fingerprint, alike.id, 'named', {_NAMING}
        FROM incoming i CROSS JOIN LATERAL json_array_elements_text(i.named) AS named (word)
        JOIN unnest(%s::text[], %s::uuid[]) AS alike (word, id) USING (word) WHERE i.named IS NOT NULL
        GROUP BY i.fingerprint, alike.id
        """,
        (list(alike), list(alike.values())),
    )
    return [word for word in words if word not in alike]


async def find_tests(connection: Connection) -> None:
    """Say of each test of the file how it is matched, and match what an automation id tells."""
    await connection.execute(
        """
        WITH unmatched AS (
            SELECT i.fingerprint, concat_ws('.', nullif(i.class_name, ''), i.name) AS automation_id
            FROM incoming_tests i
            WHERE NOT EXISTS (SELECT FROM incoming_matches m WHERE m.fingerprint = i.fingerprint)
            AND NOT EXISTS (
                SELECT FROM automated_test_cases c JOIN test_cases t ON t.id = c.test_case_id
                WHERE c.test_id = i.test_id)
        ), candidates AS (
            SELECT u.fingerprint, min(t.id::text)::uuid AS test_case_id, count(*) AS several
            FROM unmatched u JOIN test_cases t ON t.custom_metadata ->> 'automation_id' = u.automation_id
            GROUP BY u.fingerprint
        ), matches AS (
            INSERT INTO incoming_matches
            SELECT fingerprint, test_case_id, 'automation_id' FROM candidates WHERE several = 1
        )
        UPDATE incoming_tests i SET matched_by = 'ambiguous' FROM candidates c
        WHERE c.fingerprint = i.fingerprint AND c.several > 1
        """
    )
    await connection.execute(
        """
        UPDATE incoming_tests i SET matched_by = m.matched_by
        FROM (SELECT fingerprint, min(matched_by) AS matched_by FROM incoming_matches GROUP BY fingerprint) AS m
        WHERE m.fingerprint = i.fingerprint
        """
    )
    await connection.execute(
        """
        UPDATE incoming_tests i SET matched_by = 'remembered'
        WHERE NOT EXISTS (SELECT FROM incoming_matches m WHERE m.fingerprint = i.fingerprint) AND EXISTS (
            SELECT FROM automated_test_cases c JOIN test_cases t ON t.id = c.test_case_id WHERE c.test_id = i.test_id)
        """
    )


async def count_matches(connection: Connection) -> Matched:
    """Return how many of the tests are matched."""
    return await fetch_only(
        connection,
        Matched,
        """
        SELECT count(*) AS tests, count(*) FILTER (WHERE matched_by <> 'ambiguous') AS matched,
               count(*) FILTER (WHERE matched_by IS NULL) AS unknown,
               count(*) FILTER (WHERE matched_by = 'ambiguous') AS ambiguous
        FROM incoming_tests
        """,
    )


async def unmatched(connection: Connection) -> list[dict[str, Any]]:
    """Return the tests that no test case was found for, by name."""
    cursor = await connection.execute(
        """
        SELECT fingerprint, class_name, name, suite, file FROM incoming_tests
        WHERE matched_by IS NULL ORDER BY class_name, name, fingerprint
        """
    )
    return await cursor.fetchall()


async def first_unmatched(connection: Connection) -> list[str]:
    """Return the names of the first tests that no test case was found for."""
    return await fetch_column(
        connection,
        f"""
        SELECT concat_ws('.', nullif(class_name, ''), name) FROM incoming_tests
        WHERE matched_by IS NULL ORDER BY class_name COLLATE "C", name COLLATE "C", fingerprint LIMIT {_MOST_NAMED}
        """,
    )


async def drop_unmatched(connection: Connection) -> None:
    """Leave out the tests that no test case was found for."""
    await connection.execute("DELETE FROM incoming_tests WHERE matched_by IS NULL")


async def add_created(connection: Connection, created: list[tuple[bytes, UUID]]) -> None:
    """Match tests with test cases that were made for them."""
    async with connection.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO incoming_matches (fingerprint, test_case_id, matched_by) VALUES (%s, %s, 'created')", created
        )


async def forget(connection: Connection) -> None:
    """Remove the temporary tables of a file, which another may follow in its transaction."""
    await connection.execute("DROP TABLE incoming, incoming_tests, incoming_matches")
