"""What each kind of proposal does to the record: to check one is to do it in a transaction that is rolled back."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from fastapi.exceptions import RequestValidationError
from psycopg import Rollback
from pydantic import BaseModel, ValidationError

from catalog_service.fields import repository as project_fields
from catalog_service.history.service import compare
from catalog_service.items import repository as items
from catalog_service.items.kinds import KINDS, REQUIREMENT, TEST_CASE, ItemKind
from catalog_service.items.schemas import ItemPatch, ItemWrite
from catalog_service.items.service import differ, patched, placed, prepare, updated
from catalog_service.items.service import new as new_item
from catalog_service.items.source_urls import SourceUrls
from catalog_service.links import repository as link_rows
from catalog_service.links import service as links
from catalog_service.links.fields import COLUMNS, ORIGIN
from catalog_service.proposals import repository
from catalog_service.proposals.schemas import AcceptedProposal, ProposedChange
from catalog_service.relations import service as relations
from catalog_service.relations.schemas import RelationCreate
from catalog_service.requirements.schemas import RequirementPatch, RequirementWrite
from catalog_service.test_cases.schemas import TestCasePatch, TestCaseWrite
from catalog_service.values import RelationSource
from chassis.core.problems import Conflict, NotFound, Problem
from chassis.core.wording import shown
from chassis.db.database import Connection, Database
from chassis.messaging.events import Actor
from chassis.web.bulk import pointing_into
from chassis.web.listing import Row
from chassis.web.validation import from_validation

M = TypeVar("M", bound=BaseModel)
_UNDONE = Conflict("This acceptance has been undone.", code="acceptance_undone")
_WRITES: Mapping[str, type[ItemWrite]] = {"requirement": RequirementWrite, "test_case": TestCaseWrite}
_PATCHES: Mapping[str, type[ItemPatch]] = {"requirement": RequirementPatch, "test_case": TestCasePatch}


@dataclass(frozen=True, slots=True)
class Done:
    """What a proposal did: what it made or changed, by the ids of its `target`, and what was there `before`."""

    made_id: UUID
    target: Row
    before: Row | None = None
    undo: Row = field(default_factory=dict)
    """What `undoing` needs to take it back."""


class Applying:
    """Checks and applies proposals; `source_urls` are the addresses that items may name."""

    def __init__(self, database: Database, source_urls: SourceUrls) -> None:
        self._database = database
        self._source_urls = source_urls
        self._kinds: Mapping[str, Callable[[Connection, ProposedChange, Actor], Awaitable[Done]]] = {
            "unlink": _unlink,
            "confirm_link": _confirm_link,
            "relation": _relate,
            "requirement": self._create,
            "test_case": self._create,
            "change": self._change,
        }

    async def check(self, proposed: ProposedChange, actor: Actor) -> Done | Problem:
        """Return what a proposal would do now, or why it cannot be done; nothing changes."""
        done: Done | Problem | None = None
        try:
            async with self._database.transaction() as connection, connection.transaction():
                done = await self._do(connection, proposed, actor)
                raise Rollback
        except Problem as problem:
            return problem
        assert done is not None, "it is rolled back behind that"
        return done

    async def apply(self, accepted: AcceptedProposal) -> UUID | Problem:
        """Do what a proposal asks for, once; return what it made or changed, of an earlier call too, or why not."""
        try:
            async with self._database.transaction() as connection:
                if not await repository.begin(connection, accepted.proposal_id):
                    return await repository.made(connection, accepted.proposal_id)
                review = accepted.review_id
                if review and await link_rows.undone_acceptances(connection, {accepted.proposal_id: review}):
                    raise _UNDONE
                done = await self._do(connection, accepted, accepted.actor.as_actor())
                await repository.finish(connection, accepted.proposal_id, done.made_id, done.undo)
                return done.made_id
        except Problem as problem:
            return problem

    async def _do(self, connection: Connection, proposed: ProposedChange, actor: Actor) -> Done:
        return await self._kinds[proposed.kind](connection, proposed, actor)

    async def _create(self, connection: Connection, proposed: ProposedChange, actor: Actor) -> Done:
        kind = next(one for one in KINDS if one.name == proposed.kind)
        with pointing_into("body"):
            body = _read(_WRITES[kind.name], proposed.body)
            self._source_urls.check(body.source_url)
            fields = await project_fields.of(connection)
            said = body.model_dump()
            row, event = new_item(kind, said, actor, fields, await prepare(connection, kind, said))
        await items.insert(connection, kind, row, event)
        return Done(row["id"], {})

    async def _change(self, connection: Connection, proposed: ProposedChange, actor: Actor) -> Done:
        kind = REQUIREMENT if "requirement" in proposed.target else TEST_CASE
        current = await _locked_item(connection, kind, str(proposed.target[kind.name]))
        _check_version(kind, current, proposed.target.get("version"))
        with pointing_into("body"):
            body = _read(_PATCHES[kind.name], proposed.body)
            self._source_urls.check(body.source_url)
            own = await project_fields.of(connection)
            wanted = patched(kind, current, body.model_dump(exclude_unset=True), own)
            update = updated(kind, current, await placed(connection, kind, current, wanted), actor, own)
        if update is None:
            raise Conflict(f"The {kind.label} says so already: nothing would change.", code="no_change")
        changed = [name for name in update.stored if name not in {"updated_at", "version", "position"}]
        before = {name: current[name] for name in changed}
        if proposed.before is not None and differ(proposed.before["fields"], before):
            raise _outdated(kind, current)
        if update.meaning:
            await items.insert_revision(connection, update.row, update.meaning)
        await items.update(connection, kind, update.row, update.stored, update.event)
        told = await compare({name: (current[name], update.row[name]) for name in changed})
        after = {name: update.row[name] for name in changed}
        return Done(
            current["id"],
            {kind.name: current["id"], "version": current["version"]},
            {"fields": before, **told},
            {"kind": kind.name, "before": before, "after": after, "version": update.row["version"]},
        )


async def _unlink(connection: Connection, proposed: ProposedChange, actor: Actor) -> Done:
    row, target = await _locked_link(connection, proposed)
    await links.LINKS.table.delete(connection, row["id"], links.LINKS.deleted(row, actor))
    link = {name: row[name] for name in (*COLUMNS, *ORIGIN)}
    return Done(row["id"], target, undo={"link": link})


async def _confirm_link(connection: Connection, proposed: ProposedChange, actor: Actor) -> Done:
    row, target = await _locked_link(connection, proposed)
    if not links.shown(row)["suspect"]:
        raise Conflict("This link is not suspect: there is nothing to confirm.", code="link_not_suspect")
    now: Row = {**await links.LINKS.confirm_locked(connection, row, actor)}
    names = ("confirmed_at", "confirmed_by", "requirement_version", "test_case_version")
    undo = {"before": {name: row[name] for name in names}, "after": {name: now[name] for name in names}}
    return Done(row["id"], target, undo=undo)


async def _relate(connection: Connection, proposed: ProposedChange, actor: Actor) -> Done:
    ends = {end: await _locked_item(connection, REQUIREMENT, str(proposed.target[end])) for end in relations.ENDS}
    with pointing_into("body"):
        named = {f"{end}_id": str(row["id"]) for end, row in ends.items()}
        body = _read(RelationCreate, {**proposed.body, **named})
    relation = await relations.create(connection, body.model_dump(), actor, RelationSource.PROPOSED)
    return Done(relation["id"], {end: row["id"] for end, row in ends.items()})


def _read(model: type[M], sent: Mapping[str, Any]) -> M:
    try:
        return model.model_validate(sent)
    except ValidationError as error:
        errors = [{**entry, "loc": ("body", *entry["loc"])} for entry in error.errors(include_url=False)]
        raise from_validation(RequestValidationError(errors), model) from None


async def _locked_item(connection: Connection, kind: ItemKind, reference: str) -> Row:
    found = None
    with suppress(ValueError):
        found = await items.find(connection, kind, UUID(reference), "FOR NO KEY UPDATE")
    if found is None:
        found = await items.find_by_external_id(connection, kind, reference, "FOR NO KEY UPDATE")
    if found is None:
        raise NotFound(
            f"There is no {kind.label} with the id or external_id {shown(reference)} in this project.",
            code=f"{kind.name}_not_found",
        )
    return found


async def _locked_link(connection: Connection, proposed: ProposedChange) -> tuple[Any, Row]:
    """Return the link of a pair, locked, and its target; raise NotFound, and Conflict where it is not as it was."""
    pair = {kind.name: await _locked_item(connection, kind, str(proposed.target[kind.name])) for kind in KINDS}
    link_id = await link_rows.id_of_pair(connection, pair["requirement"]["id"], pair["test_case"]["id"])
    if link_id is None:
        raise NotFound("The two are not linked.", code="link_not_found")
    await links.LINKS.table.lock(connection, link_id)
    row = await links.LINKS.get(connection, link_id)
    target: Row = {kind.name: pair[kind.name]["id"] for kind in KINDS}
    for kind in KINDS:
        version = f"{kind.name}_version"
        target[version] = pair[kind.name]["version"]
        _check_version(kind, pair[kind.name], proposed.target.get(version))
    target["link"] = link_id
    if proposed.target.get("link") not in {None, str(link_id)}:
        raise Conflict("The two have been linked anew since.", code="outdated")
    return row, target


def _check_version(kind: ItemKind, current: Row, version: object) -> None:
    if version is not None and version != current["version"]:
        raise _outdated(kind, current)


def _outdated(kind: ItemKind, current: Row) -> Conflict:
    return Conflict(
        f"The {kind.label} {current['external_id'] or shown(current['title'])} is at version {current['version']} and"
        " says something else than what this was proposed for: read it again.",
        code="outdated",
        members={"version": current["version"]},
    )
