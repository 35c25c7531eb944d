"""Applies the plan of an import: all or nothing, or a thousand rows at a time."""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime

import psycopg

from catalog_service.authorship import author
from catalog_service.exchange.applying import event_sql, relations, repository
from catalog_service.exchange.applying.job import Applied, Cancelled, Counts, Job, RecordChanged
from catalog_service.exchange.applying.repository import FIRST, Place
from catalog_service.exchange.applying.steps import RECORDED, STEPS
from catalog_service.fields import repository as project_fields
from catalog_service.fields import service as fields
from catalog_service.fields.mappings import fit
from catalog_service.items.kinds import KINDS
from catalog_service.levels import repository as project_levels
from catalog_service.levels import service as levels
from catalog_service.levels.schemas import LevelsWrite
from catalog_service.references import repository as references
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from contracts.catalog import ImportApplied

Progress = Callable[[float], Awaitable[bool]]
"""Is told how far the job is (0.6..1, what came before is the plan); gives False when it is to be cancelled."""

_AT_ONCE = 1000
_TRIES = 3
"""For rows that others change between the look at them and the change of them."""
_OVERTAKEN = (psycopg.errors.UniqueViolation, psycopg.errors.ForeignKeyViolation)
_PLANNED = 0.6
_END = Place(len(STEPS), -1)


async def apply(database: Database, job: Job, progress: Progress) -> Applied:
    """Apply the rows of an import and record its events; return what was applied, also when it was before.

    Raises RecordChanged when the record is not what the plan was made for, and Cancelled: nothing was applied then,
    unless it is not all or nothing. What a crash has left is gone on with by the next call.
    """
    return await _Application(database, job, progress).run()


async def end_early(connection: Connection, job: Job) -> Applied | None:
    """Record what is applied of an import that does not go on, as its last event; return it, None for nothing."""
    await repository.lock_job(connection, job.id)
    place = await repository.read_place(connection, job.id)
    if place is None or place == FIRST:
        return None
    return await _finish(connection, job, place, await repository.count_applied(connection, job.id, place))


async def _finish(connection: Connection, job: Job, place: Place, counts: Counts) -> Applied:
    """Record the last event of an import that is applied up to a place; return what was, and what was not."""
    left_out = 0 if place == _END else await repository.leave_out(connection, job.id, place)
    event = ImportApplied(
        import_id=job.id,
        format=job.format,
        file_name=job.file_name,
        sha256=job.sha256,
        counts=counts,
        not_applied=left_out,
        suggest=job.suggests,
    )
    now = datetime.now(UTC)
    stored = any(event.count(kind, "wait") for kind in repository.JOINING) or job.restores
    await references.settle(connection, event_sql.head(job), stored=stored)
    await outbox.record(connection, [event_sql.event(job, event, now)])
    await repository.keep_document(connection, job.id, now)
    has_items = any(event.count(kind.name, action) for kind in KINDS for action in ("create", "update"))
    await repository.finish(connection, job.id, now, search_ready=not has_items)
    return Applied(counts, left_out=left_out)


class _Application:
    """One import while it is applied."""

    def __init__(self, database: Database, job: Job, progress: Progress) -> None:
        self._database = database
        self._job = job
        self._progress = progress
        self._rows: dict[tuple[str, str | None], int] = {}
        self._to_do = 0
        self._ends: dict[tuple[str, str | None], list[int]] = {}
        self._done = 0
        self._refused: Counter[str] = Counter()
        self._now = datetime.now(UTC)
        self._parameters = {
            **event_sql.heads(job, RECORDED),
            **{f"meaning_of_{kind.name}": list(kind.meaning) for kind in KINDS},
            "moment": self._now,
            "author": author(job.actor),
            "actor": job.actor.email,
            "restores": job.restores,
            "file_name": job.file_name,
        }

    async def run(self) -> Applied:
        async with self._database.connection() as connection:
            self._rows, self._ends = await repository.read_batches(connection, self._job.id, _AT_ONCE)
        unplanned = {kind: number for (kind, action), number in self._rows.items() if action is None}
        if unplanned:
            # Who planned it anew has died over it.
            raise RecordChanged(unplanned)
        self._to_do = sum(
            number for (_, action), number in self._rows.items() if action in {"create", "update", "delete", "wait"}
        )
        try:
            if self._job.is_atomic:
                return await self._try_as_a_whole()
            return await self._apply_in_parts()
        except _OVERTAKEN as violation:
            # Somebody else's change came between the look at the record and ours.
            raise RecordChanged({_kind_of(violation): 1}) from violation

    async def _try_as_a_whole(self) -> Applied:
        for left in reversed(range(_TRIES)):
            self._done, self._refused = 0, Counter()
            try:
                return await self._apply_as_a_whole()
            except psycopg.errors.DeadlockDetected:
                # Somebody who changes the same in another order goes first.
                if not left:
                    raise
        raise AssertionError("the last try returns or raises")

    async def _apply_as_a_whole(self) -> Applied:
        async with self._database.transaction() as connection:
            await repository.lock_job(connection, self._job.id)
            if await repository.read_place(connection, self._job.id) is None:
                return await self._applied(connection, _END)
            await repository.put_off(connection)
            await self._use_definitions(connection)
            await self._check(connection)
            place = FIRST
            while place != _END:
                if not await self._tell_progress():
                    raise Cancelled
                place = await self._advance(connection, place)
            return await self._finish(connection, _END)

    async def _apply_in_parts(self) -> Applied:
        failed = 0
        while True:
            is_wanted = await self._tell_progress()
            try:
                async with self._database.transaction() as connection:
                    await repository.lock_job(connection, self._job.id)
                    place = await repository.read_place(connection, self._job.id)
                    if place is None:
                        return await self._applied(connection, _END)
                    if place == _END or not is_wanted:
                        applied = await self._finish(connection, place)
                        break
                    await repository.put_off(connection)
                    await self._use_definitions(connection)
                    await repository.save_place(connection, self._job.id, await self._advance(connection, place))
            except (*_OVERTAKEN, psycopg.errors.DeadlockDetected):
                failed += 1
                if failed == _TRIES:
                    raise
            else:
                failed = 0
        if not is_wanted:
            raise Cancelled(applied)
        return applied

    async def _use_definitions(self, connection: Connection) -> None:
        """Make the levels and fields of the project that the plan makes, and note which of all have a meaning."""
        made = await repository.read_made_levels(connection, self._job.id)
        if made and not await project_levels.keys(connection):
            await levels.define(connection, LevelsWrite(levels=made), self._job.actor, lambda _: None)
        own = await project_fields.of(connection)
        fitted = fit(self._job.options.get("mapping"), own, may_make=bool(self._job.options.get("makes_fields")))
        if fitted.made:
            own = await fields.define(connection, fitted.fields.defined, self._job.actor, lambda _: None)
        self._parameters |= {f"fields_of_{kind.name}": list(own.meaning[kind.name]) for kind in KINDS}

    async def _check(self, connection: Connection) -> None:
        """Lock what the plan changes; raise RecordChanged if it is not what the plan was made for."""
        for kind in (*(one.name for one in KINDS), *repository.JOINING):
            if actions := [action for action in ("update", "delete") if (kind, action) in self._rows]:
                changed = await repository.lock_changed(
                    connection, self._job, kind, actions, FIRST.after, repository.LAST
                )
                await self._refuse(connection, kind, changed)
            if kind not in repository.JOINING and self._job.refuses_changes and (kind, "unchanged") in self._rows:
                self._refused[kind] += await repository.count_unlike(connection, self._job.id, kind)
            await self._refuse_taken(connection, kind, FIRST.after, repository.LAST)
        if self._job.refuses_changes and +self._refused:
            raise RecordChanged(+self._refused)

    async def _advance(self, connection: Connection, place: Place) -> Place:
        """Apply the next rows; return the place after them."""
        step = STEPS[place.step]
        last = next((end for end in self._ends.get((step.kind, step.action), ()) if end > place.after), None)
        if last is None:
            return Place(place.step + 1, -1)
        if step.needs_target and not self._job.is_atomic:
            changed = await repository.lock_changed(connection, self._job, step.kind, (step.action,), place.after, last)
            await self._refuse(connection, step.kind, changed)
        if not self._job.is_atomic and step.action == "create":
            await self._refuse_taken(connection, step.kind, place.after, last)
        if step.kind == "relation" and step.action in {"create", "update"}:
            closing = await relations.find_closing(connection, self._job.id, step.action, place.after, last)
            await self._refuse(connection, step.kind, closing)
            if closing and self._job.is_undone_by_a_change:
                raise RecordChanged({step.kind: len(closing)})
        refused = await repository.do(connection, step, self._job, self._parameters, place.after, last)
        await self._refuse(connection, step.kind, refused)
        if refused and self._job.is_undone_by_a_change:
            raise RecordChanged({step.kind: len(refused)})
        self._done += _AT_ONCE
        return Place(place.step, last)

    async def _refuse_taken(self, connection: Connection, kind: str, after: int, last: int) -> None:
        if self._job.key and kind not in repository.JOINING and (kind, "create") in self._rows:
            taken = await repository.find_taken(connection, self._job, kind, after, last)
            await self._refuse(connection, kind, taken)

    async def _refuse(self, connection: Connection, kind: str, positions: list[int]) -> None:
        if positions:
            self._refused[kind] += len(positions)
            await repository.set_aside(connection, self._job.id, positions)

    async def _finish(self, connection: Connection, place: Place) -> Applied:
        if self._job.is_undone_by_a_change:
            counts = self._planned()
        else:
            counts = await repository.count_applied(connection, self._job.id, place)
        return replace(await _finish(connection, self._job, place, counts), refused=dict(+self._refused))

    def _planned(self) -> Counts:
        """Return how many rows of each kind and action are to be applied."""
        counts: Counts = {}
        for step in STEPS:
            if step.kind not in repository.NOT_COUNTED and (rows := self._rows.get((step.kind, step.action))):
                counts.setdefault(step.kind, {})[step.action] = rows
        return counts

    async def _applied(self, connection: Connection, place: Place) -> Applied:
        return Applied(await repository.count_applied(connection, self._job.id, place), dict(+self._refused))

    async def _tell_progress(self) -> bool:
        share = min(self._done / self._to_do, 1) if self._to_do else 1
        return await self._progress(_PLANNED + (1 - _PLANNED) * share)


def _kind_of(violation: psycopg.IntegrityError) -> str:
    table = violation.diag.table_name
    joining = "relation" if table == "requirement_relations" else "link"
    return next((kind.name for kind in KINDS if kind.table == table), joining)
