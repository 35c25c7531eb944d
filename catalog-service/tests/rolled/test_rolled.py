"""Rolled verdicts and coverage out of PostgreSQL: what the model says of any graph of requirements."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from requirement_graphs import Graph, graphs

from catalog_service.rolled import queries, reads
from catalog_service.rolled.rules import WORST_FIRST, roll_verdict
from catalog_service.verdicts import Basis, Verdict
from chassis.db.database import Connection
from testing.service import ok

_ENDS = {
    Verdict.PASSED: "",
    Verdict.FAILED: '<failure message="no">it broke</failure>',
    Verdict.FLAKY: '<flakyFailure message="once">it broke</flakyFailure>',
}


class Pool:
    """Test cases by how they stand."""

    def __init__(self, catalog: Any) -> None:
        self.catalog = catalog
        self.of: dict[Verdict, list[UUID]] = {}

    async def fill(self) -> None:
        """Make a test case for each verdict, and one more that was not run, for what is partial."""
        names = {one: f"T{self.catalog.word()}" for one in (*_ENDS, Verdict.STALE, Verdict.NOT_RUN)}
        cases = {one: await self.catalog.test_case(external_id=name) for one, name in names.items()}
        inside = "".join(
            f'<testcase classname="Doors" name="[{names[one]}]" time="0.1">{_ENDS.get(one, "")}</testcase>'
            for one in (*_ENDS, Verdict.STALE)
        )
        report = f'<testsuites><testsuite name="all">{inside}</testsuite></testsuites>'.encode()
        sent = {"content": report, "headers": {"content-type": "application/xml"}}
        ok(await self.catalog.request("POST", "/test-results", **sent))
        stale = cases[Verdict.STALE]["id"]
        ok(await self.catalog.patch(f"/test-cases/{stale}", {"description": "Something else."}))
        self.of = {one: [UUID(case["id"])] for one, case in cases.items()}
        self.of[Verdict.PARTIAL] = [*self.of[Verdict.PASSED], *self.of[Verdict.NOT_RUN]]
        self.of[Verdict.UNCOVERED] = []


@pytest.fixture(scope="module")
async def pool(catalog: Any) -> Pool:
    pool = Pool(catalog)
    await pool.fill()
    return pool


def basis() -> Basis:
    return Basis("main", "main", datetime.now(UTC), timedelta(days=14))


async def store(connection: Connection, graph: Graph, pool: Pool) -> list[UUID]:
    """Store a graph; return the ids of its requirements by number."""
    ids = [uuid4() for _ in graph.verdicts]
    cursor = connection.cursor()
    await cursor.executemany(
        "INSERT INTO requirements (id, external_id, title, description, type, priority, status, created_at, updated_at)"
        " VALUES (%s, %s, 'T', 'D', 'functional', 'high', 'draft', now(), now())",
        [(one, f"{number:03}-{one}") for number, one in enumerate(ids)],
    )
    links = [(uuid4(), one, case) for one, own in zip(ids, graph.verdicts, strict=True) for case in pool.of[own]]
    await cursor.executemany(
        "INSERT INTO links (id, requirement_id, test_case_id, link_type, link_source, created_at,"
        " requirement_version, test_case_version) VALUES (%s, %s, %s, 'covers', 'manual', now(), 1, 1)",
        links,
    )
    relations = [(pair, "derives_from" if n % 2 else "refines") for n, pair in enumerate(graph.relations)]
    relations += [(pair, "depends_on") for pair in graph.others]
    await cursor.executemany(
        "INSERT INTO requirement_relations (id, child_id, parent_id, relation_type, source, created_at, updated_at,"
        " child_version, parent_version) VALUES (%s, %s, %s, %s, 'manual', now(), now(), 1, 1)",
        [(uuid4(), ids[child], ids[parent], kind) for (child, parent), kind in relations],
    )
    return ids


def worst_of(graph: Graph, root: int) -> list[int]:
    """The members that are named, by number: those that are worst, of these the first."""
    members = [one for one in sorted(graph.below(root)) if graph.is_tested(one) or not graph.children[one]]
    by_severity = sorted(members, key=lambda one: WORST_FIRST.index(graph.verdicts[one]))
    return [one for one in by_severity if graph.verdicts[one] is not Verdict.PASSED][:5]


@settings(
    max_examples=40,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(graph=graphs())
async def test_postgresql_says_what_the_model_says(catalog: Any, pool: Pool, graph: Graph) -> None:
    async with catalog.database.connection() as connection, connection.transaction(force_rollback=True):
        ids = await store(connection, graph, pool)
        now = basis()
        found = await reads.of_requirements(connection, ids, now)
        for number, one in enumerate(ids):
            counts = graph.counts(number)
            assert {name: n for name, n in found[one]["rolled"]["counts"].items() if n} == counts
            assert found[one]["rolled"]["verdict"] == roll_verdict(counts)
            assert found[one]["rolled"]["worst"] == [ids[worst] for worst in worst_of(graph, number)]
            assert found[one]["rolled_coverage"] == graph.coverage(number)
        cursor = await connection.execute(
            f"WITH RECURSIVE {queries.all_rolled_verdicts(now)}, {queries.ALL_ROLLED_COVERAGE}"
            " SELECT requirement_id AS id, verdict, coverage FROM rolled_verdicts JOIN rolled_coverage"
            " USING (requirement_id) WHERE requirement_id = ANY(%(ids)s)",
            {"ids": ids, **now.parameters},
        )
        of_all = {row["id"]: (row["verdict"], row["coverage"]) for row in await cursor.fetchall()}
        assert of_all == {
            one: (roll_verdict(graph.counts(number)), graph.coverage(number)) for number, one in enumerate(ids)
        }


async def test_a_circle_that_should_not_be_there_ends(catalog: Any, pool: Pool) -> None:
    async with catalog.database.connection() as connection, connection.transaction(force_rollback=True):
        ids = await store(connection, Graph((Verdict.UNCOVERED, Verdict.FAILED), ((0, 1), (1, 0))), pool)
        found = await reads.of_requirements(connection, ids, basis())
        assert [found[one]["rolled"]["verdict"] for one in ids] == ["failed", "failed"]
