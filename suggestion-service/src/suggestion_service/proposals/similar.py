"""Near duplicates of a proposed item: agents make items anew where a change of one was meant."""

from math import log, sqrt
from typing import Any
from uuid import UUID

from chassis.core.problems import Conflict
from chassis.db.database import Connection
from suggestion_service.engine import ItemText, read_terms
from suggestion_service.proposals import repository
from suggestion_service.proposals.schemas import RequirementProposal, TestCaseProposal
from suggestion_service.store import projects

CODE = "similar_exists"
_LIKENESS = 0.85
_MOST_TERMS = 32
_LOOKED_AT = 50
_MOST_SHOWN = 5
_SAYS = ("title", "description", "preconditions", "steps", "postconditions")


async def check(connection: Connection, proposal: RequirementProposal | TestCaseProposal) -> None:
    """Raise Conflict `similar_exists` where an item of the same kind says nearly the same.

    Those that the agent names as `not_a_duplicate_of` are passed over.
    """
    language = (await projects.get(connection)).language
    terms, _ = read_terms(ItemText(**_text(proposal.body)), language)
    if not terms:
        return
    rare = sorted(terms, key=lambda term: (-len(term), term))[:_MOST_TERMS]
    passed_over = {*map(str.lower, proposal.not_a_duplicate_of)}
    found = []
    for item in await repository.sharing_terms(connection, proposal.kind, rare, _LOOKED_AT):
        score = _cosine(terms, item.terms)
        if score >= _LIKENESS and not {str(item.id), (item.external_id or "").lower()} & passed_over:
            found.append((score, item.id, item.external_id, item.title))
    if found:
        found.sort(reverse=True, key=lambda one: one[0])
        raise _similar(proposal.kind.replace("_", " "), found[:_MOST_SHOWN])


def _similar(label: str, found: list[tuple[float, UUID, str | None, str]]) -> Conflict:
    names = ", ".join(external_id or f"\u201c{title[:60]}\u201d" for _, _, external_id, title in found)
    return Conflict(
        f"This {label} says nearly the same as {names}. Propose a `change` of that one; or, where it is another one,"
        " send the same with its id in `not_a_duplicate_of`.",
        code=CODE,
        members={
            "similar": [
                {"id": item_id, "external_id": external_id, "title": title, "score": round(score, 3)}
                for score, item_id, external_id, title in found
            ]
        },
    )


def _text(body: dict[str, Any]) -> Any:
    said = {name: body[name] for name in _SAYS if body.get(name)}
    return (
        {"title": "", "description": ""}
        | said
        | {
            "module": body.get("module"),
            "tags": body.get("tags") or [],
        }
    )


def _cosine(first: dict[str, int], second: dict[str, int]) -> float:
    one, other = _weights(first), _weights(second)
    product = sum(weight * other[term] for term, weight in one.items() if term in other)
    return product / (_length(one) * _length(other)) if one and other else 0.0


def _weights(terms: dict[str, int]) -> dict[str, float]:
    return {term: 1 + log(count) for term, count in terms.items()}


def _length(weights: dict[str, float]) -> float:
    return sqrt(sum(weight * weight for weight in weights.values()))
