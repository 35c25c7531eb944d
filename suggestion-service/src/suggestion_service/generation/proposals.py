"""From scored pairs to suggestions with their reasons. What takes long runs in a thread."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from chassis.database import Database
from suggestion_service.engine import Algorithm, Block, Explanation, ItemText, readable_words
from suggestion_service.generation import repository
from suggestion_service.generation.corpus import View

METHODS: dict[Algorithm, str] = {
    "tfidf": "semantic_similarity",
    "keyword": "keyword_match",
    "hybrid": "hybrid",
}
_ALGORITHMS = {method: algorithm for algorithm, method in METHODS.items()}
_WORDS_KEPT = 5000
CHUNK = 1000
"""Pairs explained at once, or stored in one transaction: neither who is stopped nor an event waits for longer."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair at or above the threshold."""

    requirement_id: UUID
    test_case_id: UUID
    score: float


@dataclass(frozen=True, slots=True)
class Proposal:
    """New suggestions, ready to be stored: `rows` is their JSON, `already` this run's own from before a crash."""

    rows: str
    already: int


@dataclass(frozen=True, slots=True)
class Rescored:
    """New scores of pending suggestions: `rows` is their JSON."""

    ids: list[UUID]
    rows: str


async def scored(blocks: Iterator[Block]) -> AsyncIterator[tuple[Block, list[Pair]]]:
    """Give the blocks with their pairs, each worked out in a thread."""
    while (block := await asyncio.to_thread(next, blocks, None)) is not None:
        yield block, await asyncio.to_thread(_pairs_of, block)


def _pairs_of(block: Block) -> list[Pair]:
    return [
        Pair(requirement_id, test_case_id, score)
        for requirement_id, test_case_id, score in zip(
            block.requirement_ids.tolist(), block.test_case_ids.tolist(), block.scores.tolist(), strict=True
        )
    ]


class Proposer:
    """Works out suggestions for one view of the corpus."""

    def __init__(self, database: Database, view: View) -> None:
        self._database = database
        self._view = view
        self._words: dict[UUID, dict[str, str]] = {}

    async def propose(self, algorithm: Algorithm, pairs: Sequence[Pair], run_id: UUID | None = None) -> Proposal:
        """Explain those of the pairs that may be suggested."""
        new, already = await self.new_among(pairs, run_id)
        return Proposal(await self.explain(algorithm, new), already)

    async def new_among(self, pairs: Sequence[Pair], run_id: UUID | None = None) -> tuple[list[Pair], int]:
        """Give those of the pairs that may be suggested, and how many this same run has suggested already."""
        if not pairs:
            return [], 0
        asked = await asyncio.to_thread(self._as_json, pairs)
        async with self._database.connection() as connection:
            places, already = await repository.candidates(connection, asked, run_id)
        return [pairs[place] for place in sorted(places)], already

    async def explain(self, algorithm: Algorithm, pairs: Sequence[Pair]) -> str:
        """Give new suggestions of these pairs, ready to be stored, as JSON."""
        await self._learn_words(_items_of(pairs))
        return await asyncio.to_thread(self._explain, algorithm, pairs)

    async def rescore(self, pending: Sequence[dict[str, Any]]) -> Rescored:
        """Explain pending suggestions anew, each by the method that it was made with."""
        known = self._view.text_sequences
        there = [row for row in pending if row["requirement_id"] in known and row["test_case_id"] in known]
        await self._learn_words({row[side] for row in there for side in ("requirement_id", "test_case_id")})
        return Rescored([row["id"] for row in there], await asyncio.to_thread(self._explain_again, there))

    async def _learn_words(self, ids: set[UUID]) -> None:
        if len(self._words) > _WORDS_KEPT:
            self._words.clear()
        missing = ids - self._words.keys()
        if missing:
            async with self._database.connection() as connection:
                rows = await repository.texts(connection, list(missing))
            self._words |= await asyncio.to_thread(_words_of, rows)

    def _as_json(self, pairs: Sequence[Pair]) -> str:
        return _json({"place": place, **self._of(pair)} for place, pair in enumerate(pairs))

    def _of(self, pair: Pair) -> dict[str, Any]:
        return {
            "requirement_id": pair.requirement_id,
            "test_case_id": pair.test_case_id,
            "requirement_text_sequence": self._view.text_sequences[pair.requirement_id],
            "test_case_text_sequence": self._view.text_sequences[pair.test_case_id],
        }

    def _explain(self, algorithm: Algorithm, pairs: Sequence[Pair]) -> str:
        ids = [(pair.requirement_id, pair.test_case_id) for pair in pairs]
        explanations = self._view.snapshot.explain_many(algorithm, ids, self._words)
        return _json(
            {
                "id": uuid.uuid4(),
                **self._of(pair),
                "similarity_score": pair.score,
                "suggestion_method": METHODS[algorithm],
                **_told(algorithm, explanation),
            }
            for pair, explanation in zip(pairs, explanations, strict=True)
        )

    def _explain_again(self, pending: Sequence[dict[str, Any]]) -> str:
        rows: list[dict[str, Any]] = []
        for method, algorithm in _ALGORITHMS.items():
            group = [row for row in pending if row["suggestion_method"] == method]
            ids = [(row["requirement_id"], row["test_case_id"]) for row in group]
            explanations = self._view.snapshot.explain_many(algorithm, ids, self._words)
            for row, explanation in zip(group, explanations, strict=True):
                pair = Pair(row["requirement_id"], row["test_case_id"], explanation.score)
                rows.append(
                    {
                        "id": row["id"],
                        **self._of(pair),
                        "similarity_score": pair.score,
                        **_told(algorithm, explanation),
                    }
                )
        return _json(rows)


def _told(algorithm: Algorithm, explanation: Explanation) -> dict[str, Any]:
    return {
        "suggestion_reason": explanation.reason,
        "suggestion_metadata": {
            "algorithm": algorithm,
            "components": explanation.components,
            "matched_terms": explanation.matched_terms,
            "other_terms": explanation.other_terms,
            "other_weight": explanation.other_weight,
        },
    }


def _items_of(pairs: Iterable[Pair]) -> set[UUID]:
    return {item_id for pair in pairs for item_id in (pair.requirement_id, pair.test_case_id)}


def _words_of(rows: Sequence[dict[str, Any]]) -> dict[UUID, dict[str, str]]:
    return {row["id"]: readable_words(ItemText(**row["text"], module=row["module"], tags=row["tags"])) for row in rows}


def _json(rows: Iterable[dict[str, Any]]) -> str:
    return orjson.dumps(list(rows)).decode()
