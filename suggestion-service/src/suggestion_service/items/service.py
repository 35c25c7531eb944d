"""What catalog's events do to the copy: a late event changes nothing, a deleted item stays deleted."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import UUID

from chassis.db.database import Connection
from chassis.messaging.events import Actor, P, Received
from contracts import catalog
from suggestion_service import engine
from suggestion_service.items import repository
from suggestion_service.review import acceptance, withdrawal
from suggestion_service.review import repository as reviews

_SLOW = 20_000
"""Characters that take some milliseconds to read."""
_SAYS = ("title", "description", "steps", "preconditions", "postconditions")

State = catalog.RequirementState | catalog.TestCaseState


def text_of(state: State) -> dict[str, Any]:
    """Return what the item says, by the names of `engine.ItemText`."""
    return {name: value for name in _SAYS if (value := getattr(state, name, None))}


async def add(
    connection: Connection, side: engine.Side, received: Sequence[tuple[Received[Any], State]], *, score: bool
) -> None:
    """Take new items, unless the copy has later news of them; with `score`, queue them for scoring."""
    rows = [{**_place(event, state), **_content(side, event, state)} for event, state in received]
    await _keep(connection, rows, [state for _, state in received], score=score)


async def change(
    connection: Connection, side: engine.Side, received: Sequence[tuple[Received[Any], State]], *, score: bool
) -> None:
    """Take items as they are after their events; with `score`, queue for scoring those that say something new."""
    latest: dict[UUID, tuple[Received[Any], State]] = {}
    for event, state in received:
        if state.id not in latest or latest[state.id][0].sequence < event.sequence:
            latest[state.id] = event, state
    before = await repository.known(connection, list(latest))
    new: list[dict[str, Any]] = []
    states: list[State] = []
    same: list[dict[str, Any]] = []
    for event, state in latest.values():
        old = before.get(state.id)
        row = {**_place(event, state), **_content(side, event, state)}
        if old is not None and old["text"] == row["text"]:
            if not _metadata_changed(old, state):
                same.append(_place(event, state))
                continue
            row["text_sequence"] = old["text_sequence"]
        new.append(row)
        states.append(state)
    await _keep(connection, new, states, score=score)
    await repository.touch(connection, same)


async def _keep(
    connection: Connection, rows: Sequence[dict[str, Any]], states: Sequence[State], *, score: bool
) -> None:
    if not rows:
        return
    # A thread costs more than it gives for the few short texts that usually come at a time.
    slow = sum(len(str(row["text"])) for row in rows) > _SLOW
    all_terms = await asyncio.to_thread(_terms_of, states) if slow else _terms_of(states)
    for row, terms in zip(rows, all_terms, strict=True):
        row["terms"] = terms
    await repository.keep(connection, rows, score=score)


def _terms_of(states: Sequence[State]) -> list[dict[str, int]]:
    return [engine.terms(engine.ItemText(**text_of(state), module=state.module, tags=state.tags)) for state in states]


def _place(event: Received[Any], state: State) -> dict[str, Any]:
    return {"id": state.id, "external_id": state.external_id, "sequence": event.sequence}


def _content(side: engine.Side, event: Received[Any], state: State) -> dict[str, Any]:
    return {
        "side": side,
        "title": state.title,
        "module": state.module,
        "tags": state.tags,
        "priority": state.priority,
        "text": text_of(state),
        "text_sequence": event.sequence,
        "actor_id": event.actor.id,
        "actor_email": event.actor.email,
        "correlation_id": event.correlation_id,
    }


def _metadata_changed(old: dict[str, Any], state: State) -> bool:
    return (old["module"], old["tags"], old["priority"]) != (state.module, state.tags, state.priority)


async def remove(connection: Connection, side: engine.Side, received: Iterable[tuple[Received[Any], State]]) -> None:
    """Take items out, and their suggestions with them."""
    rows = {
        state.id: {
            "id": state.id,
            "side": side,
            "title": state.title,
            "priority": state.priority,
            "sequence": event.sequence,
        }
        for event, state in received
    }
    await repository.entomb(connection, list(rows.values()))


async def link(connection: Connection, events: list[Received[catalog.LinkCreated]]) -> None:
    """Note linked pairs; a pair that was linked directly leaves the review queue."""
    news = await repository.keep_links(connection, _pairs(events, lambda data: data.link), deleted=False)
    made = [event for event in events if event.data.link.id in news]
    pending = await reviews.lock_pairs(connection, [_pair(event) for event in made])
    linked_directly: dict[Actor, list[UUID]] = defaultdict(list)
    for event in made:
        suggestion_id = pending.get(_pair(event))
        if suggestion_id is None:
            continue
        if suggestion_id == event.data.suggestion_id:
            await acceptance.resume(connection, event.actor, event.data.link, suggestion_id)
        else:
            linked_directly[event.actor].append(suggestion_id)
    for actor, ids in linked_directly.items():
        await withdrawal.withdraw_linked(connection, actor, ids)


def _pair(made: Received[catalog.LinkCreated]) -> tuple[UUID, UUID]:
    return made.data.link.requirement_id, made.data.link.test_case_id


async def unlink(connection: Connection, events: list[Received[catalog.LinkDeleted]]) -> None:
    """Note pairs that are not linked any more."""
    await repository.keep_links(connection, _pairs(events, lambda data: data.link), deleted=True)


def _pairs(events: Iterable[Received[P]], link_of: Callable[[P], catalog.LinkState]) -> list[dict[str, Any]]:
    rows: dict[UUID, dict[str, Any]] = {}
    for event in events:
        link = link_of(event.data)
        rows[link.id] = {
            "link_id": link.id,
            "requirement_id": link.requirement_id,
            "test_case_id": link.test_case_id,
            "sequence": event.sequence,
        }
    return list(rows.values())
