"""Every adapter of the bus keeps the promises of the port."""

from collections.abc import Sequence

import pytest

from chassis.bus import Publication
from chassis.bus.in_process import InProcessBus


class Refusing:
    """A consumer that refuses the first deliveries."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.got: list[bytes] = []

    async def deliver(self, batch: Sequence[bytes]) -> None:
        if self.times:
            self.times -= 1
            raise ConnectionError("not now")
        self.got.extend(batch)


@pytest.fixture(params=[InProcessBus])
def bus(request: pytest.FixtureRequest) -> InProcessBus:
    """Every adapter of the port."""
    adapter: InProcessBus = request.param()
    return adapter


async def test_the_bus_delivers_again_until_the_consumer_takes_it_and_keeps_the_order(
    bus: InProcessBus,
) -> None:
    consumer = Refusing(2)
    bus.subscribe("refusing", frozenset({"test"}), consumer.deliver)
    await bus.start()
    await bus.publish([Publication("test.a", b"1"), Publication("test.b", b"2")])
    await bus.publish([Publication("test.a", b"3")])
    assert consumer.got == [b"1", b"2", b"3"]
    await bus.stop()


async def test_the_bus_delivers_to_every_queue_what_its_sources_tell(bus: InProcessBus) -> None:
    one, other = Refusing(0), Refusing(1)
    bus.subscribe("one", frozenset({"test"}), one.deliver)
    bus.subscribe("other", frozenset({"test", "more"}), other.deliver)
    await bus.start()
    await bus.publish([Publication("test.a", b"1"), Publication("more.a", b"2"), Publication("else.a", b"3")])
    assert one.got == [b"1"]
    assert other.got == [b"1", b"2"]
    await bus.stop()


async def test_a_queue_has_one_subscription(bus: InProcessBus) -> None:
    bus.subscribe("one", frozenset({"test"}), Refusing(0).deliver)
    with pytest.raises(ValueError, match="already"):
        bus.subscribe("one", frozenset({"test"}), Refusing(0).deliver)
