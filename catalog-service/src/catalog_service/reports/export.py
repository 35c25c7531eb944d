"""Makes the matrix as a document: on disk first, so that memory stays bounded and no half document goes out.

A reader who is slow then holds no connection to the database, and an error found while the document is made is
answered as a problem, not as a file that ends in the middle.
"""

import asyncio
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, aclosing, closing
from datetime import datetime
from typing import IO

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from catalog_service.listing import Conditions
from catalog_service.reports import repository, service
from catalog_service.reports.formats import MatrixDocument
from chassis.database import Database

_BLOCK = 256 * 1024

# Documents made at once in this process: each holds a connection and a thread while it is made.
_places = asyncio.Semaphore(2)


async def make(
    database: Database, scope: Conditions, document_type: type[MatrixDocument], made_at: datetime
) -> IO[bytes]:
    """Give an open temporary file with the whole matrix of `scope`, all of one moment; the caller closes it."""
    with ExitStack() as unless_finished:
        file = unless_finished.enter_context(tempfile.TemporaryFile(prefix="traceability-matrix-"))
        async with _places:
            with ExitStack() as meanwhile:
                folder = meanwhile.enter_context(tempfile.TemporaryDirectory(prefix="traceability-matrix-"))
                async with repository.snapshot(database) as connection:
                    summary = await service.summary(connection, scope)
                    document = await asyncio.to_thread(document_type, file, folder, summary, made_at)
                    meanwhile.enter_context(closing(document))
                    async with aclosing(repository.matrix_rows(connection, scope)) as parts:
                        async for rows in parts:
                            await asyncio.to_thread(document.write, rows)
                await asyncio.to_thread(document.finish)
        unless_finished.pop_all()
    return file


class FileResponse(Response):
    """Sends an open file in blocks, and closes it."""

    def __init__(self, file: IO[bytes], media_type: str, headers: Mapping[str, str]) -> None:
        self._file = file
        length = file.seek(0, 2)
        super().__init__(headers={"Content-Length": str(length), "Content-Type": media_type, **headers})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        with self._file as file:
            file.seek(0)
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            while block := file.read(_BLOCK):
                await send({"type": "http.response.body", "body": block, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
