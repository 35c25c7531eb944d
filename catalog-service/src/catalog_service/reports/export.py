"""Makes the matrix as a document: on disk, from where it is sent while it grows, so that memory stays bounded.

A reader who is slow holds no connection to the database, for the document does not wait for readers. An error before
its first bytes is answered as a problem; one that comes later ends the connection, so that half a document is not
taken for the whole.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import ExitStack, aclosing, closing
from datetime import datetime
from typing import IO

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from catalog_service.reports import repository, service
from catalog_service.reports.formats import MatrixDocument
from catalog_service.reports.scope import Scope as ReportScope
from catalog_service.snapshot import snapshot
from chassis.db.database import Database

_BLOCK = 256 * 1024

# Documents made at once in this process: each holds a connection and a thread while it is made.
_places = asyncio.Semaphore(2)


async def make(
    database: Database, scope: ReportScope, document_type: type[MatrixDocument], made_at: datetime, file: IO[bytes]
) -> AsyncGenerator[int, None]:
    """Write the whole matrix of `scope`, all of one moment, to an empty file; return how long the file is, as it grows.

    What is written up to there stays as it is.
    """
    async with _places:
        with ExitStack() as meanwhile:
            folder = meanwhile.enter_context(tempfile.TemporaryDirectory(prefix="traceability-matrix-"))
            async with snapshot(database) as connection:
                about = await service.about(connection, scope, made_at)
                document = await asyncio.to_thread(document_type, file, folder, about)
                meanwhile.enter_context(closing(document))
                async with aclosing(repository.matrix_rows(connection, scope.requirements)) as parts:
                    async for rows in parts:
                        await asyncio.to_thread(document.write, rows)
                        yield file.tell()
                async with aclosing(repository.orphan_rows(connection, scope.test_cases)) as more:
                    async for orphans in more:
                        await asyncio.to_thread(document.write_orphans, orphans)
                        yield file.tell()
            await asyncio.to_thread(document.finish)
    yield file.tell()


class DocumentResponse(Response):
    """Makes a document and sends it from its beginning on, while it is made."""

    def __init__(
        self,
        database: Database,
        scope: ReportScope,
        document_type: type[MatrixDocument],
        made_at: datetime,
        headers: Mapping[str, str],
    ) -> None:
        super().__init__(
            headers={
                "Content-Type": document_type.media_type,
                "Cache-Control": "no-store",  # whoever takes it away decides where it is kept
                **headers,
                **document_type.headers,
            }
        )
        # Nobody knows yet how long it will be.
        del self.headers["Content-Length"]
        self._of = database, scope, document_type, made_at
        self._written = 0
        self._grown = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        with tempfile.TemporaryFile(prefix="traceability-matrix-") as file:
            making = asyncio.create_task(self._make(file))
            making.add_done_callback(lambda _: self._grown.set())
            try:
                await self._send(file, making, send)
            finally:
                making.cancel()
                await asyncio.wait([making])

    async def _make(self, file: IO[bytes]) -> None:
        async with aclosing(make(*self._of, file)) as growing:
            async for self._written in growing:
                file.flush()
                self._grown.set()

    async def _send(self, file: IO[bytes], making: asyncio.Task[None], send: Send) -> None:
        sent, whole = 0, False
        while not whole:
            await self._grown.wait()
            self._grown.clear()
            if whole := making.done():
                making.result()
            while sent < self._written:
                if not sent:
                    await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                block = os.pread(file.fileno(), min(_BLOCK, self._written - sent), sent)
                sent += len(block)
                await send({"type": "http.response.body", "body": block, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
