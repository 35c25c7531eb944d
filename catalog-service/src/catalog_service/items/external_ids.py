"""Items by the id that they have in another system: read, put, and who has it when it is taken."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated
from urllib.parse import unquote_to_bytes

from fastapi import Path, Request, Response
from starlette.convertors import PathConvertor, register_url_convertor

from catalog_service.items import repository, service
from catalog_service.items.creations import ItemCreations
from catalog_service.items.kind import BRIEF, ItemKind
from catalog_service.items.schemas import ItemWrite
from catalog_service.listing import by_field
from chassis.core.identity import Identity
from chassis.core.problems import Conflict, Invalid, PreconditionFailed
from chassis.db.database import Database
from chassis.messaging.events import actor_of
from chassis.web import strict_json
from chassis.web.responses import check_precondition, created, item

ExternalId = Annotated[
    str,
    Path(
        description="The external_id, percent-encoded: slashes, blanks and every other character may be in it.",
        examples=["REQ-42"],
    ),
]


class _AnyText(PathConvertor):
    """The rest of an address, whatever is in it: of `path`, a line break is no part and one at the end is lost."""

    regex = r"[\s\S]*"


register_url_convertor("text", _AnyText())

_TRIES = 3
"""For an item that others create and delete at the same time."""


@asynccontextmanager
async def naming_who_has_it(kind: ItemKind, database: Database, external_id: str | None) -> AsyncIterator[None]:
    """Let the Conflict of an external_id that is taken say by which item."""
    try:
        yield
    except Conflict as conflict:
        if conflict.code != "external_id_taken" or external_id is None:
            raise
        async with database.connection() as connection:
            holder = await repository.find_by_external_id(connection, kind, external_id)
        if holder is None:
            raise
        raise kind.external_id_taken_by(by_field(holder, BRIEF)) from None


async def read(kind: ItemKind, request: Request, database: Database, external_id: str) -> Response:
    """Answer the item that has an external_id."""
    _check(request, external_id)
    async with database.connection() as connection:
        row = await repository.find_by_external_id(connection, kind, external_id)
    if row is None:
        raise kind.not_found(external_id)
    return item(request, row)


async def put(
    kind: ItemKind, request: Request, database: Database, caller: Identity, external_id: str, body: ItemWrite
) -> Response:
    """Create the item that has an external_id, or replace it."""
    _check(request, external_id)
    if body.external_id not in {None, external_id}:
        raise Invalid.field(
            "/external_id",
            f"{body.external_id!r} is not the external_id of the address, {external_id!r}; leave it out."
            " To give an item another one, PATCH it by its id.",
            "contradiction",
        )
    fields = {**body.model_dump(), "external_id": external_id}
    for left in reversed(range(_TRIES)):
        async with database.transaction() as connection:
            current = await repository.find_by_external_id(connection, kind, external_id, "FOR NO KEY UPDATE")
            if current is not None:
                check_precondition(request, current)
                wanted = service.replacement(current, fields)
                return item(request, await service.update(connection, kind, current, wanted, actor_of(caller)))
        if "if-match" in request.headers:
            raise PreconditionFailed(
                f"There is no {kind.label} with this external_id; leave If-Match out to create it."
            )
        row, event = service.new(kind, fields, actor_of(caller))
        creations: ItemCreations = request.app.state.item_creations[kind.name]
        try:
            await creations.store(row, event)
        except Conflict:
            # Somebody else was first: it is theirs that is to be replaced.
            if not left:
                raise
        else:
            return created(request, row, f"{kind.path}/{row['id']}")
    raise AssertionError("the last try returns or raises")


def _check(request: Request, external_id: str) -> None:
    sent: bytes = (request.scope.get("raw_path") or request.scope["path"].encode()).partition(b"?")[0]
    if not strict_json.is_storable(unquote_to_bytes(sent).decode("utf-8", "surrogateescape")):
        message, code = "The external_id holds NUL (U+0000) or is not UTF-8; remove it.", "invalid_text"
    elif not external_id or external_id.isspace():
        message, code = "The external_id is blank; write it behind the last slash of the address.", "blank"
    elif len(external_id) > 100:
        message, code = "An external_id has at most 100 characters.", "string_too_long"
    else:
        return
    raise Invalid.field("/path/external_id", message, code)
