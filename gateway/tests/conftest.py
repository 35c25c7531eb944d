"""A gateway before real ASGI apps."""

from collections.abc import AsyncIterator

import pytest
from stand_ins import Running, running_gateway


@pytest.fixture
async def embedded() -> AsyncIterator[Running]:
    async with running_gateway(deployed=False) as running:
        yield running


@pytest.fixture
def running(embedded: Running) -> Running:
    return embedded
