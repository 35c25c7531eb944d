"""Pairs as scoring passes them on."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import NamedTuple
from uuid import UUID

from suggestion_service.engine import Block


class Pair(NamedTuple):
    """A pair at or above the threshold."""

    requirement_id: UUID
    test_case_id: UUID
    score: float


async def scored(blocks: Iterator[Block]) -> AsyncIterator[Block]:
    """Return the blocks, each worked out in a thread."""
    while (block := await asyncio.to_thread(next, blocks, None)) is not None:
        yield block


def pairs_of(block: Block, start: int = 0, stop: int | None = None) -> list[Pair]:
    """Return the pairs of a block, or some of them: at a low threshold there may be millions."""
    some = slice(start, stop)
    columns = block.requirement_ids[some], block.test_case_ids[some], block.scores[some]
    return [Pair(*pair) for pair in zip(*(column.tolist() for column in columns), strict=True)]
