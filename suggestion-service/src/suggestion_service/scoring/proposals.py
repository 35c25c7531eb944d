"""From scored pairs to suggestions with what explains them. What takes long runs in a thread."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from chassis.db.database import Database
from suggestion_service.engine import Algorithm, pack
from suggestion_service.methods import METHODS
from suggestion_service.scoring import repository
from suggestion_service.scoring.corpus import Pair, View
from suggestion_service.scoring.repository import PendingPair

CHUNK = 2000
"""Pairs explained at once, or stored in one transaction: neither who is stopped nor an event waits for longer."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """New suggestions, ready to be staged: `rows` are lines of COPY, `already` this run's own from before a crash."""

    rows: bytes
    already: int


@dataclass(frozen=True, slots=True)
class Rescored:
    """New scores of pending suggestions: `rows` is their JSON.

    `below` are those of them that are not worth suggesting any more, with the feedback that says so.
    """

    ids: list[UUID]
    rows: str
    below_ids: list[UUID]
    below_rows: str


class Proposer:
    """Works out suggestions for one view of the corpus."""

    def __init__(self, database: Database, view: View) -> None:
        self._database = database
        self.view = view

    async def propose(self, algorithm: Algorithm, pairs: Sequence[Pair], run_id: UUID | None = None) -> Proposal:
        """Explain those of the pairs that may be suggested."""
        new, already = await self.new_among(pairs, run_id)
        return Proposal(await self.explain(algorithm, new), already)

    async def new_among(self, pairs: Sequence[Pair], run_id: UUID | None = None) -> tuple[list[Pair], int]:
        """Return those of the pairs that may be suggested, and how many this same run has suggested already."""
        if not pairs:
            return [], 0
        asked = await asyncio.to_thread(self._as_json, pairs)
        async with self._database.connection() as connection:
            places, already = await repository.candidates(connection, asked, run_id)
        return [pairs[place] for place in sorted(places)], already

    async def explain(self, algorithm: Algorithm, pairs: Sequence[Pair]) -> bytes:
        """Return new suggestions of these pairs, ready to be staged.

        Their reasons are made of the texts when they are read (`review.reasons`).
        """
        return await asyncio.to_thread(self._explain, algorithm, pairs)

    async def rescore(
        self, algorithm: Algorithm, pending: Sequence[PendingPair], threshold: float | None = None
    ) -> Rescored:
        """Explain pending suggestions anew; those below the threshold, or at 0, need no explanation any more.

        Without a threshold no score is too low.
        """
        known = self.view.text_sequences
        there = [row for row in pending if row.requirement_id in known and row.test_case_id in known]
        below: list[dict[str, Any]] = []
        if threshold is not None:
            there, below = await asyncio.to_thread(self._divide, algorithm, there, threshold)
        rows = await asyncio.to_thread(self._explain_again, algorithm, there)
        return Rescored([row.id for row in there], rows, [row["id"] for row in below], _json(below))

    def _as_json(self, pairs: Sequence[Pair]) -> str:
        return _json({"place": place, **self._of(pair)} for place, pair in enumerate(pairs))

    def _of(self, pair: Pair) -> dict[str, Any]:
        return {
            "requirement_id": pair.requirement_id,
            "test_case_id": pair.test_case_id,
            "requirement_text_sequence": self.view.text_sequences[pair.requirement_id],
            "test_case_text_sequence": self.view.text_sequences[pair.test_case_id],
        }

    def _explain(self, algorithm: Algorithm, pairs: Sequence[Pair]) -> bytes:
        facts = self.view.scorer.facts(algorithm, [pair[:2] for pair in pairs])
        sequences = self.view.text_sequences
        return "".join(
            f"{pair.requirement_id}\t{pair.test_case_id}\t{pair.score!r}\t{METHODS[algorithm]}"
            f"\t{_escaped(orjson.dumps(pack(of_pair)).decode())}"
            f"\t{sequences[pair.requirement_id]}\t{sequences[pair.test_case_id]}\n"
            for pair, of_pair in zip(pairs, facts, strict=True)
        ).encode()

    def _divide(
        self, algorithm: Algorithm, pending: Sequence[PendingPair], threshold: float
    ) -> tuple[list[PendingPair], list[dict[str, Any]]]:
        """Return those of the pending suggestions that are worth suggesting, and the others with why they are not."""
        scores = self.view.scorer.score_pairs(algorithm, [row.pair for row in pending]).tolist()
        enough, below = [], []
        for row, score in zip(pending, scores, strict=True):
            if score > 0 and score >= threshold:
                enough.append(row)
            else:
                feedback = _withdrawn(algorithm, score, threshold)
                below.append({"id": row.id, **self._of(Pair(*row.pair, score)), "feedback": feedback})
        return enough, below

    def _explain_again(self, algorithm: Algorithm, pending: Sequence[PendingPair]) -> str:
        facts = self.view.scorer.facts(algorithm, [row.pair for row in pending])
        return _json(
            {
                "id": row.id,
                **self._of(Pair(*row.pair, of_pair.score)),
                "similarity_score": of_pair.score,
                "suggestion_method": METHODS[algorithm],
                "suggestion_metadata": pack(of_pair),
            }
            for row, of_pair in zip(pending, facts, strict=True)
        )


def _withdrawn(algorithm: Algorithm, score: float, threshold: float) -> str:
    found = f"gives this pair {score:g}, below the threshold of {threshold:g}" if score else "finds nothing in common"
    return f"Generating with {algorithm} {found}. A later generation that gives it enough brings it back."


def _escaped(text: str) -> str:
    """Write a text as COPY reads it."""
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def _json(rows: Iterable[dict[str, Any]]) -> str:
    return orjson.dumps(list(rows)).decode()
