"""What is stored of a score, so that it can be explained later without scoring: the facts of a pair as JSON, and back.

`components` and `calculation` are stored as they are answered; the rest, under `facts`, is what `explain` needs.
"""

from collections.abc import Mapping
from typing import Any

from suggestion_service.engine.explanation.evidence import Common
from suggestion_service.engine.explanation.explanation import Facts, components

_SIGNS = ("other_module", "closer_test_cases", "closer_requirements", "by_meaning")


def pack(facts: Facts) -> dict[str, Any]:
    """Return the facts of a pair as plain JSON."""
    packed: dict[str, Any] = {
        "terms": list(facts.terms.items()),
        "signs": [sign for sign in _SIGNS if getattr(facts, sign)],
        "others": facts.others,
        "other_weight": facts.other_weight,
        "agreement": list(facts.agreement),
    }
    if facts.languages:
        packed["languages"] = list(facts.languages)
    if (common := facts.common) is not None:
        packed["common"] = [common.term, common.rarest, common.next, common.items]
    stored = {"algorithm": facts.algorithm, "components": components(facts), "facts": packed}
    if facts.calculation is not None:
        stored["calculation"] = facts.calculation
    return stored


def unpack(score: float, stored: Mapping[str, Any]) -> Facts:
    """Return the facts of a pair with this score, as `pack` gave them."""
    packed = stored["facts"]
    return Facts(
        stored["algorithm"],
        score,
        {name: (part["score"], part["weight"]) for name, part in stored["components"].items()},
        dict(packed["terms"]),
        Common(*packed["common"]) if "common" in packed else None,
        packed["others"],
        packed["other_weight"],
        packed["agreement"],
        calculation=stored.get("calculation"),
        languages=tuple(packed.get("languages", ())),
        **{sign: sign in packed["signs"] for sign in _SIGNS},
    )
