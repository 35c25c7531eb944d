"""Proposes what the rows of a table are: by what its columns are called, by ids, and by the name of the file."""

import re
from collections.abc import Mapping

from catalog_service.exchange.related_names import names_parents
from catalog_service.exchange.tabular.columns import ids_in, is_id
from catalog_service.exchange.tabular.presets import Sample
from catalog_service.exchange.tabular.proposed_steps import numbered_steps
from catalog_service.exchange.tabular.proposed_values import Guess, known_in
from catalog_service.exchange.words import fold

_OF_TESTS = frozenset({"action", "expected", "preconditions", "postconditions", "automation_status"})
_TEST_WORDS = re.compile(
    r"\btests?\b|\btcs?\b|test ?case|(test|pr(ü|ue|u)f)f([aä]|ae)ll|cas de test|caso de prueba|用例|测试|テスト|테스트"
    "|тест",
    re.I,
)
_STEP_WORDS = re.compile(r"\bsteps\b|schritte|étapes|pasos|步骤|шаги|стъпки|手順|절차|\bpassi\b|\bkroki\b", re.I)
_TEST_FILES = re.compile(r"test[ _-]?cases?|testf[aä]ll|cas de test|casos? de prueba|用例", re.I)
_REQUIREMENT_WORDS = re.compile(
    r"\breq|requirement|anforderung|exigence|requisito|需求|要件|요구사항|изискван|требован", re.I
)
_ID_OF_TEST = re.compile(r"(tc|test(case)?)[-_:# ]?\d", re.I)
_BEGIN_OF_TEST = re.compile(r"t[a-z]{0,3}[-_:# ]?\d|test", re.I)
_FIELDS_OF_LINKS = frozenset({"external_id", "requirements", "test_cases", "link_type", "notes"})
_DIGIT = re.compile(r"\d")


def propose_kind(sample: Sample, scores: Mapping[int, Mapping[str, Guess]], about: str) -> str:
    """Return the kind of the rows, or `links`; `about` is what the file and the sheet are called."""
    fields = {
        "link_type" if field == "type" and known_in(sample.values(at)) else field
        for at, guesses in scores.items()
        for field, guess in guesses.items()
        if guess.confidence >= 0.85
    }
    ends = {fold(name) for name in sample.columns.header}
    if {"requirement", "test case"} <= ends or ({"requirement id", "test case id"} <= ends and "title" not in fields):
        return "links"
    said = ["" if sample.is_of_matrix(at) else said_kind(name) for at, name in enumerate(sample.columns.header)]
    if {"requirements", "test_cases"} <= {*said} and (fields <= _FIELDS_OF_LINKS or _has_only_ids(sample, said)):
        return "links"
    if numbered_steps(sample) is not None:
        return "test_cases"
    if (
        {"action", "expected"} <= fields
        or len(fields & _OF_TESTS) >= 2
        or (fields & _OF_TESTS and "test_cases" in said)
    ):
        return "test_cases"
    linking = _linking_kind(sample, scores, said)
    first = linking or next(filter(None, said[:3]), "")
    if first:
        return first
    if "action" in fields and any(map(_STEP_WORDS.search, sample.columns.header)):
        return "test_cases"
    if _REQUIREMENT_WORDS.search(about):
        return "requirements"
    return "test_cases" if _TEST_FILES.search(about) or _has_ids_of_tests(sample, scores) else "requirements"


def _linking_kind(sample: Sample, scores: Mapping[int, Mapping[str, Guess]], said: list[str]) -> str:
    """Return the kind of rows with ids of their own beside a column that names items of the other kind to link with."""
    own_at = next((at for at, guesses in scores.items() if "external_id" in guesses and not said[at]), None)
    ids = [] if own_at is None else sample.values_beside_others(own_at) or sample.values(own_at)
    if not ids or not are_ids(ids) or all(map(str.isdecimal, ids)):
        return ""
    own = "test_cases" if all(map(_ID_OF_TEST.match, ids)) else "requirements"
    others = [
        at for at, kind in enumerate(said) if kind and kind != own and not names_parents(sample.columns.header[at])
    ]
    return own if any(_names_others(sample.values(at), ids, own) for at in others) else ""


def _names_others(values: list[str], ids: list[str], own: str) -> bool:
    """Check whether cells name items that are none of the rows, and of the other kind as far as their ids tell."""
    named = {one for value in values for one in ids_in(value)}
    is_of_tests = all(map(is_id_of_test, named))
    return are_ids(values) and named.isdisjoint(ids) and (own == "requirements" or not is_of_tests)


def _has_ids_of_tests(sample: Sample, scores: Mapping[int, Mapping[str, Guess]]) -> bool:
    """Check whether all ids say that they are of test cases, such as `TC-7`."""
    places = [at for at, guesses in scores.items() if "external_id" in guesses]
    ids = sample.values_beside_others(places[0]) if places else []
    return bool(ids) and all(map(_ID_OF_TEST.match, ids))


def _has_only_ids(sample: Sample, said: list[str]) -> bool:
    """Check whether nothing but ids stands in the columns that name a kind, two in all."""
    places = [at for at, kind in enumerate(said) if kind]
    return len(places) == len(said) == 2 and all(are_ids(sample.values(at)) for at in places)


def are_ids(values: list[str]) -> bool:
    """Check whether there are values and all are ids, or lists of them, that have digits."""
    ids = [one for value in values for one in ids_in(value)]
    return bool(ids) and all(is_id(one) and _DIGIT.search(one) for one in ids)


def is_id_of_test(text: str) -> bool:
    """Check whether an id says that it is of a test case, such as `TC-7` or `T-7`."""
    return _BEGIN_OF_TEST.match(text.strip()) is not None


def said_kind(name: str) -> str:
    """Return the kind that a header names, if it names one."""
    if _REQUIREMENT_WORDS.search(name):
        return "requirements"
    return "test_cases" if _TEST_WORDS.search(name) else ""
