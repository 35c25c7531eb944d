"""The matrix, its axes and its sums, each of one moment, and the ETag of that moment."""

import asyncio
from collections.abc import Callable
from functools import partial

import orjson

from catalog_service.answer_cache import AnswerCache, state
from catalog_service.items.kinds import REQUIREMENT, TEST_CASE, ItemKind
from catalog_service.matrix import encoding, repository
from catalog_service.snapshot import snapshot
from catalog_service.verdicts import Basis
from chassis.db.database import Connection, Database
from chassis.web.conditions import Conditions
from chassis.web.listing import Row
from chassis.web.parameters import parse_words
from chassis.web.responses import etag

# Matrices made at once in this process: each takes a connection, and its memory.
_places = asyncio.Semaphore(2)


async def compact(
    database: Database, module: str | None, basis: Basis | None, is_known: Callable[[str], bool]
) -> tuple[str, bytes | None]:
    """Return the matrix in its binary form, None when the caller knows it, and its ETag; raise Invalid for `module`.

    The ETag costs no look at the matrix, so that callers may ask often; but with a basis, whose verdicts change as time
    goes by, it ends with what the cells come to.
    """
    modules = _conditions(module)
    async with _places, snapshot(database) as connection:
        tag = await _tag(connection, module)
        if basis is None and is_known(tag):
            return tag, None
        cells = await repository.cells(connection, modules, basis)
    document = await asyncio.to_thread(encoding.encode, cells)
    if basis is not None:
        tag = tag[:-1] + etag(document)[1:]
        if is_known(tag):
            return tag, None
    return tag, document


async def axis(database: Database, kind: ItemKind, module: str | None, begin: int, end: int) -> Row:
    """Return the items `begin` to `end`, without it, of the axis of a kind; raise Invalid for `module`."""
    modules = _conditions(module)
    async with snapshot(database) as connection:
        tag = await _tag(connection, module)
        total = await repository.length(connection, kind, modules)
        labels = await repository.labels(connection, kind, modules, begin, end - begin)
    items = [_labelled(index, label) for index, label in enumerate(labels, begin)]
    return {"total": total, "from": begin, "matrix": tag, "items": items}


_by_module: AnswerCache[Row] = AnswerCache(64)


async def by_module(database: Database) -> Row:
    """Return the modules of both kinds, and what is between them, by their indexes."""
    async with snapshot(database) as connection:
        of = tuple((await state(connection)).values())
        return await _by_module.get(database, "modules", of, partial(_between_modules, connection))


async def _between_modules(connection: Connection) -> Row:
    return {
        "rows": await repository.modules_of(connection, REQUIREMENT),
        "columns": await repository.modules_of(connection, TEST_CASE),
        "cells": await repository.module_cells(connection),
    }


def _conditions(module: str | None) -> Conditions:
    conditions = Conditions()
    conditions.choose("module", parse_words("module", module))
    return conditions


async def _tag(connection: Connection, module: str | None) -> str:
    return etag(orjson.dumps([module, await state(connection)]))


def _labelled(index: int, label: Row) -> Row:
    coverage = label.pop("coverage")
    return {"index": index, **label, **{name: coverage[name] for name in repository.FIGURES}}
