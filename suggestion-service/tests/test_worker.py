"""The worker as processes run it, several at a time."""

import asyncio
from typing import Any

import orjson

from chassis.core.identity import Identity, Role
from chassis.messaging.bus import Publication
from testing.service import ok

PUMP = "the pump stops when the tank is full"


async def test_two_workers_share_the_work_and_do_nothing_twice(service: Any, catalog: Any, eventually: Any) -> None:
    for number in range(10):
        catalog.requirement(f"{PUMP} {number}")
        catalog.test_case(f"{PUMP} {number}")
    told = [Publication(orjson.loads(event)["type"], event) for event in catalog.feed]
    async with service.working() as one, service.working() as other:
        await asyncio.gather(one.publish(told), other.publish(told))
        await eventually(lambda: service.suggestions())
        people = [service.client(Identity(one, f"{one}@example.test", Role.REVIEWER)) for one in (11, 12, 13)]
        asked = await asyncio.gather(*(person.post("/suggestions/generate") for person in people))
        runs = [ok(answer) for answer in asked]
        accepted = await service.post(f"/suggestions/{(await service.suggestions())[0]['id']}/accept")

        async def settled() -> bool:
            return await service.rows("SELECT FROM scoring_queue") == []

        await eventually(settled)

    assert {run["status"] for run in runs} == {"completed"}
    assert len(await service.suggestions(limit=500)) == 100
    finished = await service.events("suggestion.run.finished")
    by_background = await service.events("suggestion.item.generated")
    created = [event["data"]["suggestions_created"] for event in (*finished, *by_background)]
    assert (len(finished), sum(created)) == (3, 100)
    assert str(next(iter(catalog.links.values()))["id"]) == accepted["link_id"]
    assert await service.rows("SELECT error FROM inbox_failures") == []
