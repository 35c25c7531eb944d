"""Makes the matrix as a document."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import ExitStack, aclosing, closing
from typing import IO

from catalog_service.reports import repository, service
from catalog_service.reports.formats import MatrixDocument
from catalog_service.reports.front import Front, add_gate
from catalog_service.reports.scope import Scope
from catalog_service.reports.with_results import add_results, add_rolled
from catalog_service.rolled.reads import all_rolled
from catalog_service.snapshot import snapshot
from catalog_service.verdicts import Basis
from chassis.db.database import Database

# Documents made at once in this process: each holds a connection and a thread while it is made.
_places = asyncio.Semaphore(2)


async def make(
    database: Database,
    scope: Scope,
    document_type: type[MatrixDocument],
    front: Front,
    file: IO[bytes],
    *,
    basis: Basis | None = None,
    has_people: bool = True,
    rolled: Basis | None = None,
    gate: Basis | None = None,
) -> AsyncGenerator[int, None]:
    """Write the whole matrix of `scope`, all of one moment, to an empty file; return how long the file is, as it grows.

    What is written up to there stays as it is. `gate`: of which results the front tells what the gate says; None: it
    does not.
    """
    async with _places:
        with ExitStack() as meanwhile:
            folder = meanwhile.enter_context(tempfile.TemporaryDirectory(prefix="traceability-matrix-"))
            async with snapshot(database) as connection:
                if gate is not None:
                    front = await add_gate(front, database, connection, gate)
                about = await service.about(connection, scope, front, basis, has_people=has_people, rolled=rolled)
                verdicts = await all_rolled(connection, rolled) if rolled is not None else {}
                document = await asyncio.to_thread(document_type, file, folder, about)
                meanwhile.enter_context(closing(document))
                order = repository.GAPS_FIRST if document_type.gaps_first else repository.MATRIX_ORDER
                async with aclosing(repository.matrix_rows(connection, scope.shown_requirements, order)) as parts:
                    async for rows in parts:
                        if basis is not None:
                            await add_results(connection, rows, basis)
                        if rolled is not None:
                            await add_rolled(connection, rows, verdicts)
                        await asyncio.to_thread(document.write, rows)
                        yield file.tell()
                if scope.shows_orphans:
                    async with aclosing(repository.orphan_rows(connection, scope.test_cases)) as more:
                        async for orphans in more:
                            await asyncio.to_thread(document.write_orphans, orphans)
                            yield file.tell()
            await asyncio.to_thread(document.finish)
    yield file.tell()
