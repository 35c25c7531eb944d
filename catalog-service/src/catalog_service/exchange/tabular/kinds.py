"""What rows say of their own kind, in tables of tools that have requirements and test cases in one."""

import re
from functools import cache

from catalog_service.exchange.tabular.columns import Columns
from catalog_service.exchange.tabular.presets import Sample
from catalog_service.exchange.words import fold, words

_COLUMNS = frozenset(
    {"type", "issue type", "work item type", "item type", "object type", "artifact type", "vorgangstyp"}
)
_WORDS = {
    "test_cases": re.compile(r"(\w+ )?test ?(cases?)?|testfall|cas de test|caso de prueba|(测试)?用例", re.I),
    "requirements": re.compile(r"(\w+ )?requirements?|(user )?story|(\w+)?anforderung|exigence|requisito|需求", re.I),
}


def kind_columns(columns: Columns) -> list[int]:
    """Return the positions of the columns that may say of which kind a row is."""
    return [at for at in range(len(columns)) if fold(columns.header[at]) in _COLUMNS]


def says_kind(value: str, kind: str) -> bool:
    """Check whether a value names a kind, as `System Test Case` does."""
    return _WORDS[kind].fullmatch(value) is not None


def role_of_type(value: str) -> str | None:
    """Return what rows of a type become, by its words: of one kind, or `ignore`; None where these are not known."""
    if fold(value) in _no_items():
        return "ignore"
    return next((kind for kind in _WORDS if says_kind(value, kind) or fold(value) in _types(kind)), None)


@cache
def _no_items() -> frozenset[str]:
    return frozenset(map(fold, words()["types"]["ignore"]))


@cache
def _types(kind: str) -> frozenset[str]:
    return frozenset(map(fold, words()["types"][kind]))


def kind_of_all(sample: Sample) -> str | None:
    """Return the kind that all rows that say one say, None where they differ or none does."""
    for at in kind_columns(sample.columns):
        values = [value.strip() for value in sample.values(at)]
        for kind in _WORDS:
            if values and all(says_kind(value, kind) for value in values):
                return kind
    return None
