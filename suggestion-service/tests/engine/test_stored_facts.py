"""What is stored of a score explains it later as it would have been explained at once."""

from uuid import UUID

import orjson
import pytest
from explaining import explain_pair

from suggestion_service.engine import (
    ALGORITHMS,
    Algorithm,
    Corpus,
    Entry,
    ItemText,
    Scorer,
    explain,
    pack,
    read,
    terms,
    unpack,
)

REQUIREMENTS = [
    ItemText(title="Lock accounts", description="The account is locked for 15 minutes.", module="auth", tags=["login"]),
    ItemText(title="Log every login", description="Each failed login is logged with its address."),
    ItemText(title="Größe der Datei", description="Die Datei darf nicht größer als 20 MB sein."),
]
TEST_CASES = [
    ItemText(title="Locked account", description="Fail five times; the account is locked.", module="auth"),
    ItemText(title="Log of logins", description="A failed login shows up in the log.", module="audit"),
    ItemText(title="Unrelated", description="The lamp burns."),
]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("language", ["en", "de"])
def test_an_explanation_is_the_same_from_what_was_stored(algorithm: Algorithm, language: str) -> None:
    corpus = Corpus()
    readings = {}
    for side, first, items, of_side in (
        ("requirement", 1, REQUIREMENTS, language),
        ("test_case", 101, TEST_CASES, "en"),
    ):
        for number, item in enumerate(items, first):
            corpus.put(side, UUID(int=number), Entry(terms(item, of_side), item.module, item.tags, language=of_side))
            readings[UUID(int=number)] = read(item, of_side)
    scorer = Scorer(corpus.snapshot())
    pairs = [(UUID(int=i), UUID(int=100 + j)) for i in (1, 2, 3) for j in (1, 2, 3)]
    for pair, facts in zip(pairs, scorer.facts(algorithm, pairs), strict=True):
        stored = orjson.loads(orjson.dumps(pack(facts)))
        again = unpack(facts.score, stored)
        requirement, test_case = readings[pair[0]], readings[pair[1]]
        assert explain(again, requirement, test_case) == explain_pair(scorer, algorithm, *pair, readings)
        assert explain(again, None, None) == explain_pair(scorer, algorithm, *pair)
