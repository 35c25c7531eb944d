"""The terms that two items share, as a person reads them: each word whole, a number with its unit."""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from itertools import islice
from typing import NamedTuple

from suggestion_service.engine.explanation.reading import Bigram, Reading
from suggestion_service.engine.explanation.term_ranking import DECIMALS

_LONGEST_RUN = 40
"""Characters of a script without spaces that are shown as one match."""


class Match(NamedTuple):
    """What both texts say, and what it adds to the score."""

    shown: str
    weight: float
    is_word: bool = True
    """Whether it stands for itself in one of the texts, and is no piece of longer words in both."""


def matches(
    weights: Mapping[str, float], requirement: Reading | None, test_case: Reading | None, most: int
) -> tuple[list[Match], int, float]:
    """Return the `most` matches of a pair that weigh most, best first, how many others there are, and their weight.

    `weights` are those of the terms that both items have, best first. Terms of an item without a reading are shown as
    stems.
    """
    if requirement is None or test_case is None:
        return _first(weights, requirement or test_case, most)
    whole = _whole(weights, requirement.compounds, test_case.compounds)
    quantities = _free(whole, requirement.quantities.keys() & test_case.quantities.keys())
    bigrams = _free(whole, requirement.bigrams & test_case.bigrams)
    if not quantities and not bigrams:
        return _first(whole, requirement, most, test_case)
    return _joined(whole, quantities, bigrams, requirement, test_case, most)


def _free(weights: Mapping[str, float], bigrams: Set[Bigram]) -> list[Bigram]:
    return sorted(bigram for bigram in bigrams if bigram[0] in weights and bigram[1] in weights)


def _first(
    ranked: Mapping[str, float], reading: Reading | None, most: int, other: Reading | None = None
) -> tuple[list[Match], int, float]:
    first = islice(ranked.items(), most)
    if reading is None or other is None:
        found = [Match(term if reading is None else reading.shown(term), weight) for term, weight in first]
    else:
        found = []
        for term, weight in first:
            shown, is_word = _word(term, reading, other)
            found.append(Match(shown, weight, is_word))
    return found, max(0, len(ranked) - most), sum(islice(ranked.values(), most, None), 0.0)


def _word(term: str, requirement: Reading, test_case: Reading) -> tuple[str, bool]:
    """Return how a term is shown, and whether it is a word by itself in one of the texts: as it is there."""
    for reading in (requirement, test_case):
        if term in reading.words and term not in reading.fragments:
            return reading.words[term], True
    return requirement.shown(term), False


def _whole(weights: Mapping[str, float], *compounds: Mapping[str, Set[str]]) -> dict[str, float]:
    """Add the weights of parts to that of a word that they are part of, where one text has them nowhere else.

    Gives them best first.
    """
    whole = dict(weights)
    for of_item in compounds:
        for part in sorted(of_item.keys() & whole.keys()):
            around = max(of_item[part] & whole.keys(), key=lambda word: (whole[word], word), default=None)
            if around is not None:
                whole[around] += whole.pop(part)
    if len(whole) == len(weights):
        return whole
    return dict(sorted(whole.items(), key=lambda term: (-round(term[1], DECIMALS), term[0])))


def _joined(
    weights: dict[str, float],
    quantities: Sequence[Bigram],
    bigrams: Sequence[Bigram],
    requirement: Reading,
    test_case: Reading,
    most: int,
) -> tuple[list[Match], int, float]:
    found: list[Match] = []
    after, ahead = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for first, second in bigrams:
        after[first].append(second)
        ahead[second].append(first)
    in_quantity = {term: bigram for bigram in quantities for term in bigram}
    for term in list(weights):
        if len(found) == most:
            break
        if term not in weights:
            continue
        bigram = in_quantity.get(term)
        if bigram is not None and bigram[0] in weights and bigram[1] in weights:
            shown, used, is_word = requirement.quantities[bigram], list(bigram), True
        else:
            shown, used = _run(term, weights, after, ahead, requirement, test_case)
            if len(used) > 1 or term in requirement.unspaced:
                is_word = requirement.has_run(shown) or test_case.has_run(shown)
            else:
                shown, is_word = _word(term, requirement, test_case)
        found.append(Match(shown, sum(weights.pop(one) for one in used), is_word))
    return sorted(found, key=_heaviest_first), len(weights), sum(weights.values())


def _run(
    term: str,
    free: Mapping[str, float],
    after: Mapping[str, Sequence[str]],
    ahead: Mapping[str, Sequence[str]],
    requirement: Reading,
    test_case: Reading,
) -> tuple[str, list[str]]:
    """Return the longest run of letters around a term that both texts have, and the terms in it."""
    run, used = term, [term]
    while len(run) < _LONGEST_RUN:
        behind = [(run + following[-1], [*used, following]) for following in after[used[-1]]]
        before = [(preceding[0] + run, [preceding, *used]) for preceding in ahead[used[0]]]
        for longer, terms in behind + before:
            new = len(set(terms)) == len(terms) and terms[0] in free and terms[-1] in free
            if new and longer in requirement.unspaced and longer in test_case.unspaced:
                run, used = longer, terms
                break
        else:
            break
    return (run if len(used) > 1 else requirement.shown(term)), used


def _heaviest_first(match: Match) -> tuple[float, str]:
    return -round(match.weight, DECIMALS), match.shown
