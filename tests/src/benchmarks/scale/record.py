"""Fills a stack with a record as a year of work leaves it, beside the API, which takes items one at a time only.

Every row is what the services would have stored themselves: items and links in the catalog, its projection of
coverage, suggestion-service's copy, the audit log, and the notifications of those who made the items. Only the feed is
left out, as if everybody had read it to its end and it had been cut off, and nothing is scored: suggestions come of a
run over everything, by the API.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice
from uuid import UUID, uuid4

import numpy as np
import psycopg

from acceptance.faults.databases import System
from benchmarks.engine.record import HANDLERS, Row, apply, opened, store
from benchmarks.engine.texts import Item, make_items
from benchmarks.scale.sizes import Scale
from catalog_service.items.kinds import REQUIREMENT, TEST_CASE, ItemKind
from catalog_service.links.fields import COLUMNS as LINK_COLUMNS
from catalog_service.values import RequirementStatus, RequirementType, TestCaseStatus, TestCaseType
from chassis.db.database import Database
from chassis.messaging.events import Actor, NewEvent
from contracts.catalog import LinkCreated
from notification_service.handlers import HANDLERS as NOTIFYING

_AT_ONCE = 1000
_WORDS: dict[str, tuple[type[StrEnum], type[StrEnum]]] = {
    "requirement": (RequirementType, RequirementStatus),
    "test_case": (TestCaseType, TestCaseStatus),
}
_YEAR = timedelta(days=365)
_LINKED = 0.9
"""The share of each side that may have links."""
_CHANGED = 0.02
"""The share of the requirements that have changed since they were linked."""
_SAMPLE = 3000
_TEST_CASE_FIELDS = {
    "steps": {"1": "Bring the system into the state described.", "2": "Compare what it shows."},
    "automation_status": "manual",
    "execution_time_minutes": 5,
}
_REVISE = """
    INSERT INTO item_revisions (item_id, version, changed_fields, changed_at)
    SELECT id, version, '{title}', updated_at FROM requirements WHERE version > 1 ON CONFLICT DO NOTHING
"""
_PROJECT_COVERAGE = """
    WITH counted AS (
        INSERT INTO coverage_requirements (requirement_id, links)
        SELECT r.id, (SELECT count(*) FROM links WHERE requirement_id = r.id) FROM requirements r
        ON CONFLICT (requirement_id) DO UPDATE SET links = excluded.links
        RETURNING links
    )
    UPDATE coverage_state SET (total_requirements, covered_requirements, reached) =
        (SELECT count(*), count(*) FILTER (WHERE links > 0), count(*) FILTER (WHERE links > 0) >= 0.8 * count(*)
         FROM counted)
"""

# Three levels: 2 % of the requirements are roots, 18 % stand below these, the others below those, two thirds below two.
_RELATE = """
    WITH numbered AS (
        SELECT id, row_number() OVER (ORDER BY created_at, id) - 1 AS n, (count(*) OVER ())::integer AS total
        FROM requirements
    ), levels AS (
        SELECT id AS child_id, n, greatest(total / 50, 1) AS roots, total / 5 AS leaves FROM numbered
    ), pairs AS (
        SELECT child_id, n % roots AS parent FROM levels WHERE n >= roots AND n < leaves
        UNION SELECT child_id, roots + n % (leaves - roots) FROM levels WHERE n >= leaves
        UNION SELECT child_id, roots + (7 * n + 3) % (leaves - roots) FROM levels WHERE n >= leaves AND n % 3 > 0
    )
    INSERT INTO requirement_relations (id, child_id, parent_id, relation_type, source, created_at, updated_at,
                                       child_version, parent_version)
    SELECT gen_random_uuid(), child_id, p.id, 'refines', 'manual', now(), now(), 1, 1
    FROM pairs JOIN numbered p ON p.n = parent ON CONFLICT DO NOTHING
"""

Made = tuple[Row, NewEvent]


class Record:
    """The record of one stack; it grows from one scale to the next."""

    def __init__(self, stack: System, full: Scale, authors: Sequence[Actor]) -> None:
        """Args: ``authors`` have made everything, in turns."""
        self._urls = [stack.database_url(f"{name}-service") for name in ("catalog", "suggestion", "notification")]
        self._full = full
        self._authors = authors
        self._items = make_items(full.size)
        self._random = np.random.default_rng(7)
        self._began = datetime.now(UTC) - _YEAR
        self._linked: set[tuple[int, int]] = set()
        self.requirements: list[Row] = []
        self.test_cases: list[Row] = []

    async def grow(self, to: Scale) -> None:
        """Add what is missing to this scale."""
        async with opened(self._urls[0]) as catalog, opened(self._urls[1]) as suggestion, opened(self._urls[2]) as told:

            async def add(table: str, columns: Sequence[str], made: Iterator[Made]) -> None:
                while page := list(islice(made, _AT_ONCE)):
                    events = [event for _, event in page]
                    await asyncio.gather(
                        store(catalog, table, columns, [row for row, _ in page]),
                        apply(suggestion, HANDLERS, events),
                        apply(told, NOTIFYING, events),
                    )

            for kind, rows, items in (
                (REQUIREMENT, self.requirements, self._items["requirement"]),
                (TEST_CASE, self.test_cases, self._items["test_case"]),
            ):
                await add(kind.table, kind.columns, self._made(kind, rows, items[len(rows) : to.items]))
            await _run(catalog, _REVISE)
            columns = (*LINK_COLUMNS, "requirement_version", "test_case_version")
            await add("links", columns, self._made_links(to.links - len(self._linked)))
            await _run(catalog, _PROJECT_COVERAGE)
            await _run(catalog, "DELETE FROM requirement_relations")
            await _run(catalog, _RELATE)
        for url in self._urls:
            await asyncio.to_thread(_vacuum, url)

    def unlinked_pair(self) -> tuple[UUID, UUID]:
        """Return a requirement and a test case that are not linked; each pair once."""
        requirement, test_case = self._new_pair()
        return requirement["id"], test_case["id"]

    def word_in(self, share: float) -> str:
        """Return the word that is in about so large a share (0..1) of the items."""
        texts = [f"{row['title']} {row['description']}".split() for row in self.requirements[:_SAMPLE]]
        found = Counter(word for words in texts for word in set(words))
        return min(found, key=lambda word: abs(found[word] / len(texts) - share))

    def _made(self, kind: ItemKind, rows: list[Row], items: Iterable[Item]) -> Iterator[Made]:
        """Return new items, each with its event; they come to stand in `rows`."""
        types, statuses = (list(words) for words in _WORDS[kind.name])
        for number, item in enumerate(items, start=len(rows)):
            author, at = self._by(number, self._full.items)
            row: Row = dict.fromkeys(kind.columns) | {
                "id": uuid4(),
                "external_id": f"{kind.name[0].upper()}-{number}",
                "title": item.text.title,
                "description": item.text.description,
                "type": types[number % len(types)],
                "priority": item.priority,
                "status": statuses[number % 7 % len(statuses)],
                "module": item.text.module,
                "tags": list(item.text.tags),
                "created_by": author.email,
                "version": 1 + (kind is REQUIREMENT and self._random.random() < _CHANGED),
                "created_at": at,
                "updated_at": at,
            }
            row |= {name: value for name, value in _TEST_CASE_FIELDS.items() if name in kind.columns}
            rows.append(row)
            yield row, NewEvent(kind.created.model_validate({kind.name: row}), str(row["id"]), author, time=at)

    def _made_links(self, count: int) -> Iterator[Made]:
        for _ in range(count):
            author, at = self._by(len(self._linked), self._full.links)
            requirement, test_case = self._new_pair()
            row: Row = dict.fromkeys(LINK_COLUMNS) | {
                "id": uuid4(),
                "requirement_id": requirement["id"],
                "test_case_id": test_case["id"],
                "link_type": "verifies",
                "link_source": "manual",
                "confidence_score": 1.0,
                "created_at": at,
                "created_by": author.email,
                "updated_at": at,
            }
            titles = {"requirement_title": requirement["title"], "test_case_title": test_case["title"]}
            event = NewEvent(LinkCreated.model_validate({"link": row | titles}), str(row["id"]), author, time=at)
            yield row | {"requirement_version": 1, "test_case_version": 1}, event

    def _new_pair(self) -> tuple[Row, Row]:
        most = int(_LINKED * len(self.requirements))
        while (pair := (int(self._random.integers(most)), int(self._random.integers(most)))) in self._linked:
            pass
        self._linked.add(pair)
        return self.requirements[pair[0]], self.test_cases[pair[1]]

    def _by(self, number: int, of: int) -> tuple[Actor, datetime]:
        return self._authors[number % len(self._authors)], self._began + _YEAR * (number / of)


def _vacuum(url: str) -> None:
    """Tell the server's planner of the rows, and its indexes that all can see them: it does so itself in a minute."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")


async def _run(database: Database, statement: str) -> None:
    async with database.statement() as connection:
        await connection.execute(statement)
