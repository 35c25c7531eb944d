"""The broker as somebody else sees it, who has its password: puts messages in, takes them out."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import aio_pika
from aio_pika.abc import AbstractChannel

_TAKEN_WITHIN = 120


def put(url: str, queue: str, bodies: Sequence[bytes]) -> None:
    """Put messages into one consumer's queue alone, in this order, each confirmed."""

    async def work(channel: AbstractChannel) -> None:
        for body in bodies:
            await channel.default_exchange.publish(_message(body), f"traceline.{queue}")

    _with_channel(url, work)


def take_all(url: str, queue: str) -> list[bytes]:
    """Take everything out of one consumer's queue, in order; its consumers must be stopped, and nobody publish."""
    bodies: list[bytes] = []

    async def work(channel: AbstractChannel) -> None:
        await channel.set_qos(prefetch_count=1000)
        its_queue = await channel.declare_queue(f"traceline.{queue}", passive=True)
        waiting = its_queue.declaration_result.message_count or 0
        if not waiting:
            return
        async with asyncio.timeout(_TAKEN_WITHIN), its_queue.iterator() as messages:
            async for message in messages:
                bodies.append(message.body)
                await message.ack()
                if len(bodies) == waiting:
                    return

    _with_channel(url, work)
    return bodies


def _message(body: bytes) -> aio_pika.Message:
    return aio_pika.Message(
        body, content_type="application/cloudevents+json", delivery_mode=aio_pika.DeliveryMode.PERSISTENT
    )


def _with_channel(url: str, work: Callable[[AbstractChannel], Awaitable[None]]) -> None:
    async def run() -> None:
        connection = await aio_pika.connect(url, timeout=10)
        async with connection:
            await work(await connection.channel(on_return_raises=True))

    asyncio.run(run())
