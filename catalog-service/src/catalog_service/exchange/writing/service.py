"""Makes exports."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import ExitStack, aclosing, closing
from dataclasses import replace
from typing import IO

from catalog_service.exchange.writing import repository
from catalog_service.exchange.writing.documents import ExportDocument, Rows
from catalog_service.exchange.writing.places import take_place
from catalog_service.exchange.writing.schemas import ExportQuery, Profile
from catalog_service.exchange.writing.scope import scope_of
from catalog_service.items.filters import ItemFilters
from catalog_service.snapshot import snapshot
from catalog_service.verdicts import Basis
from chassis.db.database import Database


async def make(
    database: Database,
    query: ExportQuery,
    filters: Mapping[str, ItemFilters],
    document_type: type[ExportDocument],
    basis: Basis,
    file: IO[bytes],
) -> AsyncGenerator[int, None]:
    """Write what a query asks for, all of one moment, to an empty file; return how long the file is, as it grows."""
    async with take_place() as folder:
        with ExitStack() as meanwhile:
            async with snapshot(database) as connection:
                scope = await scope_of(connection, query, filters, basis)
                if document_type.is_whole:
                    scope = replace(scope, profile=Profile.NATIVE)
                form, whole = document_type.rows, document_type.is_whole
                with_schemas = whole or (form is Rows.JSON and scope.is_native and bool(scope.items))
                about = await repository.about(connection, scope, form, with_schemas=with_schemas)
                document = await asyncio.to_thread(document_type, file, folder, about)
                meanwhile.enter_context(closing(document))
                yield file.tell()
                async with aclosing(repository.rows(connection, scope, form)) as parts:
                    async for kind, rows in parts:
                        await asyncio.to_thread(document.write, kind, rows)
                        yield file.tell()
            await asyncio.to_thread(document.finish)
    yield file.tell()
