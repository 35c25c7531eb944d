"""What can be done to requirements and test cases: each change with its event, in one transaction."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import orjson

from catalog_service.authorship import author
from catalog_service.fields import repository as project_fields
from catalog_service.fields.cache import KnownFields
from catalog_service.fields.definitions import NONE, Fields
from catalog_service.fields.filters import facets_of, narrow
from catalog_service.fields.values import changed_meaning, checked
from catalog_service.items import repository
from catalog_service.items.bounds import check_growth
from catalog_service.items.creations import ItemCreations
from catalog_service.items.filters import COVERAGE, RELATIONS, ItemFilters
from catalog_service.items.kinds import BRIEF, ItemKind
from catalog_service.items.merge_patch import merged
from catalog_service.items.repository import Update
from catalog_service.items.schemas import ItemPatch, ItemWrite
from catalog_service.items.source_urls import SourceUrls
from catalog_service.levels.service import check_level
from catalog_service.rolled import reads as rolled
from catalog_service.search.query import parse_query
from catalog_service.search.repository import FOUND, parameters, search
from catalog_service.search.windows import is_by_relevance
from catalog_service.sections.positions import new_key
from catalog_service.sections.repository import section_key
from catalog_service.snapshot import snapshot
from catalog_service.verdicts import Basis
from chassis.core.problems import Conflict, Invalid, PreconditionFailed
from chassis.db.coalescing import Coalesced
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent
from chassis.messaging.payloads import Payload
from chassis.web.conditions import Conditions
from chassis.web.facets import Facet, count_facets
from chassis.web.listing import Fetched, PageRequest, Row

Check = Callable[[Row], None]
"""Refuses a change, by raising, of an item as it is."""
LinkDeletions = Callable[[Connection, ItemKind, list[UUID], Actor], Awaitable[list[NewEvent]]]
"""Locks the links of items that are about to be deleted; returns the events of their end."""

_LOOKED_UP = {"section", "level"}
"""The fields that are looked up before an item is stored."""
_TRIES = 3
"""For an item that others create and delete at the same time."""


def new(kind: ItemKind, fields: Row, actor: Actor, own: Fields, section_key: str = "") -> tuple[Row, NewEvent]:
    """Return a new item of validated fields, as it is answered, and its event; both are still to be stored.

    `own` are the fields of the project; raises Invalid for values that they do not take. `section_key` is that of its
    section, which it is the last of.
    """
    now = datetime.now(UTC)
    if own:
        fields = {**fields, "custom_metadata": checked(own, kind.name, fields["custom_metadata"], is_whole=True)}
    row = {**fields, "id": uuid4(), "version": 1, "created_at": now, "updated_at": now}
    row["position"] = section_key + new_key()
    if row["created_by"] is None:
        row["created_by"] = author(actor)
    row = {column: row[column] for column in kind.columns}
    return row, _event(kind.created, kind, row, actor)


class ItemService:
    """The items of one kind, as they are answered. Reads see everything that was committed before them."""

    def __init__(
        self,
        kind: ItemKind,
        database: Database,
        source_urls: SourceUrls,
        link_deletions: LinkDeletions,
        basis: Callable[[], Basis],
        fields: KnownFields,
    ) -> None:
        self._kind = kind
        self._database = database
        self._source_urls = source_urls
        self._link_deletions = link_deletions
        self._basis = basis
        self._fields = fields
        self._creations = ItemCreations(kind, database)
        self._items: Coalesced[UUID, Row] = Coalesced(self._load)

    async def get(self, item_id: UUID) -> Row:
        """Return an item; raises NotFound."""
        return self._found(await self._items.get(item_id))

    async def get_expanded(self, item_id: UUID, expansions: Collection[str]) -> Row:
        """Return an item with what is to be told beside; raises NotFound."""
        read = snapshot(self._database) if RELATIONS in expansions else self._database.connection()
        async with read as connection:
            if COVERAGE in expansions:
                row = await repository.find_with_coverage(connection, self._kind, item_id)
            else:
                row = await repository.find(connection, self._kind, item_id, "")
            row = self._found(row)
            if RELATIONS in expansions:
                row.update((await rolled.of_requirements(connection, [item_id], self._basis()))[item_id])
            return row

    async def get_by_external_id(self, external_id: str) -> Row:
        """Return the item that has an external_id; raises NotFound."""
        async with self._database.connection() as connection:
            return self._found(await repository.find_by_external_id(connection, self._kind, external_id), external_id)

    async def find_page(self, filters: ItemFilters, wanted: PageRequest) -> Fetched:
        """Return one page of items, as JSON; raises Invalid for unknown values."""
        expansions = filters.expansions
        with_coverage = COVERAGE in expansions
        if RELATIONS not in expansions:
            async with self._database.connection() as connection:
                return await self._find_page(connection, filters, wanted, with_coverage=with_coverage)
        with_ids = wanted if wanted.fields is None else replace(wanted, fields=wanted.fields | {"id"})
        async with snapshot(self._database) as connection:
            found = await self._find_page(connection, filters, with_ids, with_coverage=with_coverage)
            rows = await rolled.add_to_items(connection, found.rows, self._basis())
        return found._replace(rows=rows)

    async def _find_page(
        self, connection: Connection, filters: ItemFilters, wanted: PageRequest, *, with_coverage: bool
    ) -> Fetched:
        conditions = filters.conditions()
        await narrow_by_fields(connection, conditions, filters, self._kind)
        await _narrow_by_verdict(connection, conditions, filters, self._basis())
        if filters.searched:
            query = await parse_query(connection, filters.searched)
            if is_by_relevance(wanted.order):
                found = await search(connection, query, (self._kind.name,), wanted, conditions)
                ids = [hit.id for hit in found.rows]
                rows = await repository.find_in_order(
                    connection, self._kind, ids, wanted.fields, with_coverage=with_coverage
                )
                return found._replace(rows=rows)
            conditions.add(FOUND, **parameters(query))
        return await repository.find_page(connection, self._kind, conditions, wanted, with_coverage=with_coverage)

    async def fields(self) -> Fields:
        """Return the fields of the project as they are now."""
        async with self._database.connection() as connection:
            return await project_fields.of(connection)

    async def facets(self) -> list[Facet]:
        """Return what items can be counted by of the fields of the project."""
        return facets_of(await self.fields(), self._kind.name)

    async def count_facets(self, filters: ItemFilters, facets: Sequence[Facet]) -> Row:
        """Return how many items the filters find, in all and by each facet; raises Invalid for unknown values."""
        async with self._database.connection() as connection:
            conditions = await conditions_of(connection, filters, self._basis(), self._kind)
            return await count_facets(connection, self._kind.table, conditions, facets)

    async def create(self, body: ItemWrite, actor: Actor) -> Row:
        """Create an item and return it; raises Invalid, and Conflict `external_id_taken`."""

        section_key = await self._prepared(body.model_dump(include=_LOOKED_UP))

        async def store(fields: Fields) -> Row:
            row, event = self._new(body, actor, fields, section_key)
            await self._creations.store(row, event, fields.revision)
            return row

        async with self.naming_holder(body.external_id):
            return await self._fields.write(store)

    async def create_within(self, connection: Connection, body: ItemWrite, actor: Actor) -> Row:
        """The same in a transaction of the caller, who gives the conflict its name by `naming_holder` around it."""
        section_key = await prepare(connection, self._kind, body.model_dump(include=_LOOKED_UP))
        row, event = self._new(body, actor, await project_fields.of(connection), section_key)
        await repository.insert(connection, self._kind, row, event)
        return row

    async def put(
        self, external_id: str, body: ItemWrite, actor: Actor, check: Check, *, may_create: bool
    ) -> tuple[Row, bool]:
        """Create the item that has an external_id, or replace it; return it and whether it is new.

        Raises PreconditionFailed, by `check` or since it is not there and must not be created, and Invalid.
        """
        self._source_urls.check(body.source_url)
        if body.external_id not in {None, external_id}:
            raise Invalid.field(
                "/external_id",
                f"{body.external_id!r} is not the external_id of the address, {external_id!r}; leave it out."
                " To give an item another one, PATCH it by its id.",
                "contradiction",
            )
        fields = {**body.model_dump(), "external_id": external_id}
        for left in reversed(range(_TRIES)):
            async with self._database.transaction() as connection:
                current = await repository.find_by_external_id(connection, self._kind, external_id, "FOR NO KEY UPDATE")
                if current is not None:
                    check(current)
                    own = await project_fields.of(connection)
                    replacement = _replacement(self._kind, current, fields, own, body.model_fields_set)
                    return await self._update(connection, current, replacement, actor, own), False
            if not may_create:
                raise PreconditionFailed(
                    f"There is no {self._kind.label} with this external_id; leave If-Match out to create it."
                )

            section_key = await self._prepared(fields)

            async def store(own: Fields) -> Row:
                row, event = new(self._kind, fields, actor, own, section_key)  # noqa: B023 - called at once
                await self._creations.store(row, event, own.revision)
                return row

            try:
                return await self._fields.write(store), True
            except Conflict:
                # Somebody else was first: it is theirs that is to be replaced.
                if not left:
                    raise
        raise AssertionError("the last try returns or raises")

    async def replace(self, item_id: UUID, body: ItemWrite, actor: Actor, check: Check) -> Row:
        """Replace an item and return it; raises NotFound, what `check` raises, and what `create` does."""
        fields = body.model_dump()
        return await self._change(
            item_id,
            body,
            actor,
            check,
            lambda current, own: _replacement(self._kind, current, fields, own, body.model_fields_set),
        )

    async def patch(self, item_id: UUID, body: ItemPatch, actor: Actor, check: Check) -> Row:
        """Apply a merge patch to an item and return it; raises what `replace` does."""
        named = body.model_dump(exclude_unset=True)
        return await self._change(
            item_id, body, actor, check, lambda current, own: patched(self._kind, current, named, own)
        )

    async def delete(self, item_id: UUID, actor: Actor, check: Check) -> None:
        """Delete an item and its links: its event comes first, theirs follow. Raises NotFound, what `check` raises."""
        async with self._database.transaction() as connection:
            # New links to it wait, and then find it gone.
            row = self._found(await repository.find(connection, self._kind, item_id, "FOR UPDATE"))
            check(row)
            await delete_all(connection, self._kind, [row], actor, self._link_deletions)

    @asynccontextmanager
    async def naming_holder(self, external_id: str | None) -> AsyncIterator[None]:
        """Let the Conflict of an external_id that is taken say by which item."""
        try:
            yield
        except Conflict as conflict:
            if conflict.code != "external_id_taken" or external_id is None:
                raise
            async with self._database.connection() as connection:
                holder = await repository.find_by_external_id(connection, self._kind, external_id)
            if holder is None:
                raise
            raise self._kind.external_id_taken_by({name: holder[name] for name in BRIEF}) from None

    def _new(self, body: ItemWrite, actor: Actor, fields: Fields, section_key: str) -> tuple[Row, NewEvent]:
        self._source_urls.check(body.source_url)
        return new(self._kind, body.model_dump(), actor, fields, section_key)

    async def _prepared(self, fields: Row) -> str:
        """The same as `prepare` where there is no connection yet; most items have neither level nor section."""
        if not any(fields.get(name) for name in _LOOKED_UP):
            return ""
        async with self._database.transaction() as connection:
            return await prepare(connection, self._kind, fields)

    async def _change(
        self,
        item_id: UUID,
        body: ItemWrite | ItemPatch,
        actor: Actor,
        check: Check,
        fields_of: Callable[[Row, Fields], Row],
    ) -> Row:
        self._source_urls.check(body.source_url)
        async with self.naming_holder(body.external_id), self._database.transaction() as connection:
            current = self._found(await repository.find(connection, self._kind, item_id, "FOR NO KEY UPDATE"))
            check(current)
            # A patch that leaves them alone goes by without a look at what they are.
            names_them = isinstance(body, ItemWrite) or "custom_metadata" in body.model_fields_set
            own = await project_fields.of(connection) if names_them else NONE
            return await self._update(connection, current, fields_of(current, own), actor, own)

    async def _update(self, connection: Connection, current: Row, fields: Row, actor: Actor, own: Fields) -> Row:
        """Bring a locked item to `fields`; return it. A change of meaning raises its version; none is no update."""
        fields = await placed(connection, self._kind, current, fields)
        update = updated(self._kind, current, fields, actor, own)
        if update is None:
            return current
        if update.meaning:
            await repository.insert_revision(connection, update.row, update.meaning)
        await repository.update(connection, self._kind, update.row, update.stored, update.event)
        return update.row

    async def _load(self, ids: list[UUID]) -> Mapping[UUID, Row]:
        async with self._database.connection() as connection:
            return await repository.find_all(connection, self._kind, ids)

    def _found(self, row: Row | None, external_id: str | None = None) -> Row:
        if row is None:
            raise self._kind.not_found(external_id)
        return row


async def conditions_of(connection: Connection, filters: ItemFilters, basis: Basis, kind: ItemKind) -> Conditions:
    """Return what filters ask for, the search among it, and verdicts by a basis; raises Invalid for unknown values."""
    conditions = filters.conditions()
    await narrow_by_fields(connection, conditions, filters, kind)
    await _narrow_by_verdict(connection, conditions, filters, basis)
    if filters.searched:
        await narrow_by_search(connection, conditions, filters.searched)
    return conditions


async def narrow_by_fields(
    connection: Connection, conditions: Conditions, filters: ItemFilters, kind: ItemKind
) -> None:
    """Ask for what is asked of fields of the project; raises Invalid for what they cannot have."""
    if filters.by_field:
        fields = await project_fields.of(connection)
        narrow(conditions, fields, kind.name, filters.by_field, of_either=filters.of_either)


async def narrow_by_search(connection: Connection, conditions: Conditions, text: str) -> None:
    """Ask for what a search for this text finds."""
    conditions.add(FOUND, **parameters(await parse_query(connection, text)))


async def _narrow_by_verdict(
    connection: Connection, conditions: Conditions, filters: ItemFilters, basis: Basis
) -> None:
    # Found before the list is read: how many they are tells PostgreSQL how to read it.
    ids = await filters.of_verdict(connection, basis)
    if ids is not None:
        conditions.add("id = ANY(%(of_verdict)s)", of="verdict", of_verdict=ids)


def _later_than(moment: datetime) -> datetime:
    """Return the time now, or just after `moment` where another clock was ahead: each change has its own ETag."""
    return max(datetime.now(UTC), moment + timedelta(microseconds=1))


def _replacement(kind: ItemKind, current: Row, fields: Row, own: Fields, sent: Collection[str]) -> Row:
    """Return the fields of an item after PUT: as sent, but section and who created it stay unless they are given."""
    if "section" not in sent:
        fields = {**fields, "section": current["section"]}
    if own:
        metadata = checked(own, kind.name, fields["custom_metadata"], current["custom_metadata"], is_whole=True)
        fields = {**fields, "custom_metadata": metadata}
    if fields["created_by"] is None:
        return {**fields, "created_by": current["created_by"]}
    return fields


async def prepare(connection: Connection, kind: ItemKind, fields: Row) -> str:
    """Check the level of an item that is to be; return the key of its section, for `new`. Raises Invalid."""
    await check_level(connection, fields.get("level"))
    return await section_key(connection, kind.name, fields["section"])


async def placed(connection: Connection, kind: ItemKind, current: Row, fields: Row) -> Row:
    """Return what an item is brought to, with its place where it comes into another section; raises Invalid.

    That is for a level that the project has not.
    """
    if fields.get("level") is not None and fields["level"] != current["level"]:
        await check_level(connection, fields["level"])
    if "section" not in fields or fields["section"] == current["section"]:
        return fields
    return {**fields, "position": await section_key(connection, kind.name, fields["section"]) + new_key()}


def updated(kind: ItemKind, current: Row, fields: Row, actor: Actor, own: Fields) -> Update | None:
    """Return what brings an item to `fields`, None when it is so already. A change of meaning raises its version.

    `own` are the fields of the project, of which some have a meaning.
    """
    changed = [name for name in kind.columns if name in fields and differ(current[name], fields[name])]
    if not changed:
        return None
    row = {**current, **{name: fields[name] for name in changed}, "updated_at": _later_than(current["updated_at"])}
    meaning = [name for name in kind.meaning if name in changed]
    if own and "custom_metadata" in changed:
        meaning += changed_meaning(own, kind.name, current["custom_metadata"], fields["custom_metadata"])
    if meaning:
        row["version"] = current["version"] + 1
    changes = {name: {"before": current[name], "after": row[name]} for name in changed}
    event = _event(kind.updated, kind, row, actor, changes=changes)
    return Update(row, [*changed, "updated_at", *(["version"] if meaning else [])], meaning, event)


def patched(kind: ItemKind, current: Row, patch: Row, own: Fields) -> Row:
    """Return the fields of an item that a merge patch names, as they are after it; raises Invalid for too much.

    `own` are the fields of the project: raises Invalid for values that they do not take.
    """
    fields = {}
    for name, value in patch.items():
        if value is None:
            fields[name] = kind.defaults.get(name)
        elif name in kind.json_columns:
            fields[name] = merged(current[name], value)
            check_growth(name, current[name], fields[name])
        else:
            fields[name] = value
    if own and "custom_metadata" in fields:
        before = current["custom_metadata"]
        fields["custom_metadata"] = checked(own, kind.name, fields["custom_metadata"], before, is_whole=False)
    return fields


async def delete_all(
    connection: Connection, kind: ItemKind, rows: Sequence[Row], actor: Actor, link_deletions: LinkDeletions
) -> None:
    """Delete locked items and their links: their events come first, those of the links follow."""
    ids = [row["id"] for row in rows]
    events = [_event(kind.deleted, kind, row, actor) for row in rows]
    events += await link_deletions(connection, kind, ids, actor)
    await repository.delete(connection, kind, ids, actor.email)
    await outbox.record(connection, events)


def _event(payload: type[Payload], kind: ItemKind, row: Row, actor: Actor, **more: Any) -> NewEvent:
    return NewEvent(payload.model_validate({kind.name: row, **more}), str(row["id"]), actor)


def differ(before: Any, after: Any) -> bool:
    """Check whether two values differ as JSON: there 1, 1.0 and true do, the order of members does not."""
    if isinstance(before, dict) and isinstance(after, dict):
        return orjson.dumps(before, option=orjson.OPT_SORT_KEYS) != orjson.dumps(after, option=orjson.OPT_SORT_KEYS)
    return bool(before != after)
