"""The explanation of a score for a person: its parts, the terms that made it, and a few sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from suggestion_service.engine.explanation.evidence import Against, Common, against, alike_words, in_words, quote
from suggestion_service.engine.explanation.matched_terms import Match, matches
from suggestion_service.engine.explanation.reading import Reading
from suggestion_service.engine.text.languages import common_form
from suggestion_service.engine.text.terms import KATAKANA_WORD

_MATCHED_TERMS = 10
_WORDS_IN_REASON = 5
_DECIMALS = 6
_MOST_SHOWN = 0.99
"""Rounding makes no probability a certainty."""
_COMPONENT_DECIMALS = 9

_SCORE_NAMES = {"tfidf": "text similarity", "keyword": "keyword overlap", "hybrid": "combined score"}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a pair has its score; every field but `reason` is plain JSON.

    `components` is {name: {"score", "weight", "contribution"}}: the weights add up to 1, each contribution is weight x
    score, and the contributions add up to `score` (to 1e-6); the plain cosine of `tfidf` and `keyword` is there with
    weight 0. `matched_terms` are the terms that add most, best first:
    {"term": readable word, "weight": what it adds to `score`}; `other_terms` more terms add `other_weight` together.
    `against` are signs that the pair is alike by chance: {"code", "detail"}. `calculation`:
    how the score of the component `texts` came about, see `ranking.calibration`. `language`: that of each side, where
    their texts were read.
    """

    score: float
    reason: str
    components: dict[str, dict[str, float]]
    matched_terms: list[dict[str, str | float]]
    other_terms: int
    other_weight: float
    against: list[dict[str, str]]
    calculation: dict[str, Any] | None = None
    language: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one pair.

    `parts` gives (score, weight) of each part by name; one of weight 0 is left out, but for the plain cosine. `terms`
    is what each shared term adds to the score, best first, but for `others` that add `other_weight` together; `common`:
    how common they are, None where none is shared. `agreement`: which metadata agree. `languages`: those whose common
    words are one term.
    """

    algorithm: str
    score: float
    parts: Mapping[str, tuple[float, float]]
    terms: Mapping[str, float]
    common: Common | None
    others: int = 0
    other_weight: float = 0.0
    agreement: Sequence[str] = ()
    other_module: bool = False
    closer_test_cases: bool = False
    closer_requirements: bool = False
    by_meaning: bool = False
    calculation: dict[str, Any] | None = None
    languages: tuple[str, ...] = ()


def explain(facts: Facts, requirement: Reading | None, test_case: Reading | None) -> Explanation:
    """Put together what is known of one pair; without the readings of both nothing is quoted or held against it."""
    if facts.languages and requirement is not None and test_case is not None:
        facts, requirement, test_case = _rename_common_words(facts, requirement, test_case)
    matched, others, other_weight = matches(facts.terms, requirement, test_case, _MATCHED_TERMS)
    others, other_weight = others + facts.others, other_weight + facts.other_weight
    signs: list[Against] = []
    quotes: list[str] = []
    if requirement is not None and test_case is not None and facts.common is not None:
        quotes = [
            f"{name}: “{quoted}”"
            for name, reading in (("Requirement", requirement), ("Test case", test_case))
            if (quoted := quote(reading, facts.terms))
        ]
        signs = against(
            requirement,
            test_case,
            facts.common,
            [match.shown for match in matched],
            other_module=facts.other_module,
            closer_test_cases=facts.closer_test_cases,
            closer_requirements=facts.closer_requirements,
        )
    reason = [_first_sentence(facts, matched, others), *quotes]
    if requirement is not None and test_case is not None and (alike := alike_words(requirement, test_case)):
        reason.insert(1, f"Alike in both languages: {', '.join(map(_pair_of_words, alike))}.")
    if signs:
        reason.append(f"Against it: {'; '.join(sign.detail for sign in signs)}.")
    return Explanation(
        score=facts.score,
        reason=" ".join(reason),
        components=components(facts),
        matched_terms=[{"term": match.shown, "weight": round(match.weight, _DECIMALS)} for match in matched],
        other_terms=others,
        other_weight=round(other_weight, _DECIMALS),
        against=[{"code": sign.code, "detail": sign.detail} for sign in signs],
        calculation=facts.calculation,
        language=None
        if requirement is None or test_case is None
        else {"requirement": requirement.language, "test_case": test_case.language},
    )


def _rename_common_words(facts: Facts, requirement: Reading, test_case: Reading) -> tuple[Facts, Reading, Reading]:
    """Return the same with one name for all terms that are one word: the first that it has in the requirement."""
    said = [*requirement.words, *test_case.words, *facts.terms, *([facts.common.term] if facts.common else [])]
    first: dict[str, str] = {}
    names = {term: first.setdefault(common_form(term, facts.languages), term) for term in said}
    common = facts.common and replace(facts.common, term=names[facts.common.term])
    terms = {names[term]: weight for term, weight in facts.terms.items()}
    return replace(facts, terms=terms, common=common), requirement.renamed(names), test_case.renamed(names)


def components(facts: Facts) -> dict[str, dict[str, float]]:
    """Return the parts of a score as they are answered."""
    return {name: _component(*part) for name, part in facts.parts.items() if part[1] > 0 or name == facts.algorithm}


def _component(score: float, weight: float) -> dict[str, float]:
    # Of the figures as they are shown, so that it is the same once they were stored.
    score, weight = round(float(score), _COMPONENT_DECIMALS), round(float(weight), _COMPONENT_DECIMALS)
    return {"score": score, "weight": weight, "contribution": round(weight * score, _COMPONENT_DECIMALS)}


def _first_sentence(facts: Facts, words: Sequence[Match], others: int) -> str:
    named_score = f"{_SCORE_NAMES[facts.algorithm]} {min(facts.score, _MOST_SHOWN):.2f}"
    if not words and facts.by_meaning and facts.score > 0.0:
        details = ", ".join([*facts.agreement, named_score])
        return f"The two texts share no word that counts, but they are alike in meaning; {details}."
    if not words:
        return f"The two texts share no word that counts; {named_score}."
    # Numbers and splinters of words count, and say little: they stay among the matched terms.
    telling = [match.shown for match in words if match.is_word and _tells(match.shown)]
    shown = _drop_parts(telling or [match.shown for match in words])[:_WORDS_IN_REASON]
    more = len(words) + others - len(shown)
    named = in_words(shown, _WORDS_IN_REASON) + (f" and {more} more" if more > 0 else "")
    return f"Both texts speak of {named}; {', '.join([*facts.agreement, named_score])}."


def _pair_of_words(words: tuple[str, str]) -> str:
    one, other = words
    return f"“{one}”" if one.casefold() == other.casefold() else f"“{one}” and “{other}”"


def _drop_parts(words: Sequence[str]) -> list[str]:
    """Leave out words that another among them is made of, as “entropy” and “src” beside “entropy_src”."""
    plain = {word.casefold() for word in words}
    split = [set(word.casefold().split("_")) for word in words if "_" in word]
    named = set[str]().union(*(parts for parts in split if parts <= plain))
    in_katakana = [word for word in words if KATAKANA_WORD.fullmatch(word)]
    named |= {word for word in in_katakana if any(word != other and word in other for other in in_katakana)}
    return [word for word in words if word.casefold() not in named]


def _tells(word: str) -> bool:
    """Check whether a word says something to a person: a letter alone does not, nor do two of ASCII."""
    return any(map(str.isalpha, word)) and len(word) > (2 if word.isascii() else 1)
