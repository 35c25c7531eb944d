"""What is told to a person about a score: its parts, the terms that made it, and a sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_MATCHED_TERMS = 10
_WORDS_IN_REASON = 5
_DECIMALS = 6
_COMPONENT_DECIMALS = 9

_CALLED = {"tfidf": "text similarity", "keyword": "keyword overlap", "hybrid": "combined score"}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a pair has its score; every field but `reason` is plain JSON.

    The sum of weight x score over `components`, {name: {"score", "weight"}}, is `score` (to 1e-6).
    `matched_terms` are the terms that add most, best first: {"term": readable word, "weight": what it adds to
    `score`}; `other_terms` more terms add `other_weight` together. `calculation` says, of a hybrid score, how the
    weights of the texts' parts came about: see `hybrid.HybridScores`.
    """

    score: float
    reason: str
    components: dict[str, dict[str, float]]
    matched_terms: list[dict[str, str | float]]
    other_terms: int
    other_weight: float
    calculation: dict[str, float] | None = None


def explanation(
    algorithm: str,
    score: float,
    parts: Mapping[str, tuple[float, float]],
    terms: Sequence[tuple[str, float]],
    metadata: Sequence[str],
    calculation: dict[str, float] | None = None,
) -> Explanation:
    """Put together what is known of one pair.

    `parts` gives (score, weight) of each part by name; one of weight 0 is left out. `terms` are the readable
    words of all matched terms with what each adds to the score. `metadata` says which fields agree.
    """
    ranked = sorted(terms, key=lambda term: (-round(term[1], _COMPONENT_DECIMALS), term[0]))
    named, others = ranked[:_MATCHED_TERMS], ranked[_MATCHED_TERMS:]
    return Explanation(
        score=score,
        reason=_sentence(
            _CALLED[algorithm],
            [word for word, _ in ranked],
            metadata,
            score,
            alike_in_meaning="whole_text" in parts,
        ),
        components={
            name: {
                "score": round(float(part), _COMPONENT_DECIMALS),
                "weight": round(float(weight), _COMPONENT_DECIMALS),
            }
            for name, (part, weight) in parts.items()
            if weight > 0
        },
        matched_terms=[{"term": word, "weight": round(weight, _DECIMALS)} for word, weight in named],
        other_terms=len(others),
        other_weight=round(sum((weight for _, weight in others), 0.0), _DECIMALS),
        calculation=calculation,
    )


def _sentence(
    called: str, words: Sequence[str], metadata: Sequence[str], score: float, *, alike_in_meaning: bool
) -> str:
    if not words and alike_in_meaning and score > 0.0:
        told = ", ".join([*metadata, f"{called} {score:.2f}"])
        return f"The two texts share no word that counts, but they are alike in meaning; {told}."
    if not words:
        return f"The two texts share no word that counts; {called} {score:.2f}."
    # Numbers and splinters of words count, and say little: they stay among the matched terms.
    telling = [word for word in words if any(map(str.isalpha, word)) and (len(word) > 2 or not word.isascii())]
    shown = (telling or words)[:_WORDS_IN_REASON]
    named = ", ".join(f"“{word}”" for word in shown)
    more = len(words) - len(shown)
    rest = f" and {more} more" if more > 0 else ""
    return f"Both texts speak of {named}{rest}; {', '.join([*metadata, f'{called} {score:.2f}'])}."
