"""What catalog's events do to the copy: a late event changes nothing, a deleted item stays deleted.

Until a restore brings it back, which comes later in the feed than its end.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import UUID

from chassis.core.projects import ALL
from chassis.db import erasure as db_erasure
from chassis.db.database import Connection, in_another_project
from chassis.messaging.events import Actor, P, Received
from contracts import auth, catalog, erasure
from suggestion_service import engine
from suggestion_service.review import acceptance, following, withdrawal
from suggestion_service.store import items, linked_pairs, projects, scoring_queue, suggestions
from suggestion_service.store.items import Item, Place, Tombstone
from suggestion_service.store.linked_pairs import LinkedPair

_SLOW = 20_000
"""Characters that take some milliseconds to read."""
_SAYS = ("title", "description", "steps", "preconditions", "postconditions")

State = catalog.RequirementState | catalog.TestCaseState


def text_of(state: State) -> dict[str, Any]:
    """Return what the item says, by the names of `engine.ItemText`."""
    return {name: value for name in _SAYS if (value := getattr(state, name, None))}


async def add(
    connection: Connection, side: engine.Side, received: Sequence[tuple[Received[Any], State]], *, score: bool
) -> list[UUID]:
    """Take new items, unless the copy has later news of them; with `score`, queue them for scoring.

    Return their ids.
    """
    return await _put(connection, [(_item(side, event, state), state) for event, state in received], score=score)


async def change(
    connection: Connection, side: engine.Side, received: Sequence[tuple[Received[Any], State]], *, score: bool
) -> list[UUID]:
    """Take items as they are after their events; with `score`, queue for scoring those that say something new.

    Return the ids of these.
    """
    latest: dict[UUID, tuple[Received[Any], State]] = {}
    for event, state in received:
        if state.id not in latest or latest[state.id][0].sequence < event.sequence:
            latest[state.id] = event, state
    before = await items.known(connection, list(latest))
    changed: list[tuple[Item, State]] = []
    same: list[Place] = []
    for event, state in latest.values():
        old = before.get(state.id)
        item = _item(side, event, state)
        if old is not None and old.text == item.text:
            if (old.module, old.tags, old.priority) == (state.module, state.tags, state.priority):
                same.append(Place(item.id, item.external_id, item.sequence))
                continue
            item.text_sequence = old.text_sequence
        changed.append((item, state))
    says_new = await _put(connection, changed, score=score)
    await items.touch(connection, same)
    return says_new


async def _put(connection: Connection, changed: Sequence[tuple[Item, State]], *, score: bool) -> list[UUID]:
    if not changed:
        return []
    states = [state for _, state in changed]
    # A thread costs more than it gives for the few short texts that usually come at a time.
    slow = sum(len(str(item.text)) for item, _ in changed) > _SLOW
    language = (await projects.get(connection)).language
    all_terms = await asyncio.to_thread(_terms_of, states, language) if slow else _terms_of(states, language)
    for (item, _), read in zip(changed, all_terms, strict=True):
        item.terms, item.language = read
    await items.put(connection, [item for item, _ in changed], score=score)
    return [item.id for item, _ in changed]


def _terms_of(states: Sequence[State], language: str | None) -> list[tuple[dict[str, int], str]]:
    return [
        engine.read_terms(engine.ItemText(**text_of(state), module=state.module, tags=state.tags), language)
        for state in states
    ]


def _item(side: engine.Side, event: Received[Any], state: State) -> Item:
    return Item(
        id=state.id,
        external_id=state.external_id,
        sequence=event.sequence,
        side=side,
        title=state.title,
        module=state.module,
        tags=state.tags,
        priority=state.priority,
        text=text_of(state),
        text_sequence=event.sequence,
        actor_id=event.actor.id,
        actor_email=event.actor.email,
        correlation_id=event.correlation_id,
    )


async def remove(connection: Connection, side: engine.Side, received: Iterable[tuple[Received[Any], State]]) -> None:
    """Take items out, and their suggestions with them."""
    gone = {
        state.id: Tombstone(state.id, side, state.title, state.priority, event.sequence) for event, state in received
    }
    await items.store_tombstones(connection, list(gone.values()))
    await scoring_queue.remove(connection, list(gone))
    await suggestions.delete_of_items(connection, list(gone))
    await following.end_of_items(connection, list(gone))


async def erase_people(connection: Connection, events: Sequence[Received[auth.UserErased]]) -> None:
    """Take the person of each event out of all that is kept, the terms of items that named them included."""
    for event in events:
        if event.data.former is None:
            continue
        person = erasure.person(event.data.user.id, event.data.former)
        async with in_another_project(connection, ALL):
            named = await items.naming(connection, db_erasure.pattern(person.email))
        await db_erasure.erase(connection, person)
        for project, ids in named.items():
            async with in_another_project(connection, project):
                known = await items.known(connection, ids)
                language = (await projects.get(connection)).language
                terms = {
                    item.id: engine.read_terms(
                        engine.ItemText(**item.text, module=item.module, tags=item.tags), language
                    )
                    for item in known.values()
                }
                await items.put_terms(connection, terms)


async def link(connection: Connection, events: list[Received[catalog.LinkCreated]]) -> None:
    """Note linked pairs; a pair that was linked directly leaves the review queue."""
    news = await linked_pairs.put(connection, _pairs(events, lambda data: data.link), deleted=False)
    made = [event for event in events if event.data.link.id in news]
    pending = await suggestions.lock_pairs(connection, [_pair(event) for event in made])
    linked_directly: dict[Actor, list[UUID]] = defaultdict(list)
    for event in made:
        suggestion_id = pending.get(_pair(event))
        if suggestion_id is None:
            continue
        if suggestion_id == event.data.suggestion_id:
            await acceptance.resume(connection, event.actor, event.data.link, suggestion_id)
        else:
            linked_directly[event.actor].append(suggestion_id)
    await following.take_links(connection, made)
    for actor, ids in linked_directly.items():
        await withdrawal.withdraw_linked(connection, actor, ids)


def _pair(made: Received[catalog.LinkCreated]) -> tuple[UUID, UUID]:
    return made.data.link.requirement_id, made.data.link.test_case_id


async def unlink(connection: Connection, events: list[Received[catalog.LinkDeleted]]) -> None:
    """Note pairs that are not linked any more."""
    await linked_pairs.put(connection, _pairs(events, lambda data: data.link), deleted=True)


def _pairs(events: Iterable[Received[P]], link_of: Callable[[P], catalog.LinkState]) -> list[LinkedPair]:
    links = [(link_of(event.data), event.sequence) for event in events]
    rows = {link.id: LinkedPair(link.id, link.requirement_id, link.test_case_id, at) for link, at in links}
    return list(rows.values())
