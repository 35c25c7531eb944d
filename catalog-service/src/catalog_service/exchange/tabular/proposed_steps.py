"""Proposes how the steps of test cases are read: from columns with numbers, from rows, or from a cell."""

import re
from typing import Any

from catalog_service.exchange.tabular.known_headers import LONGEST_HEADER, known_headers
from catalog_service.exchange.tabular.presets import Sample
from catalog_service.exchange.tabular.proposed_values import Guess
from catalog_service.exchange.tabular.steps import numbered
from catalog_service.exchange.words import fold

_NUMBERS = frozenset(
    {
        *("step", "step #", "step no", "step number", "step nr", "step id", "test step", "test step #", "test step no"),
        *("schritt", "schritt nr", "schrittnummer", "étape", "n° étape", "no étape", "paso", "no", "#", "seq", "order"),
    }
)
"""What columns of the numbers of steps are called."""
_NUMBERED_STEP = re.compile(r"(.*?)(\d+)(.*)")


def propose_steps(sample: Sample, by_field: dict[str, int], guesses: dict[int, Guess]) -> dict[str, Any] | None:
    """Return the rule by which steps are read, if there are some; note columns of numbered steps among the guesses."""
    rule = numbered_steps(sample)
    if rule is not None:
        for part in ("action", "expected", "data"):
            for at in numbered(sample.columns, rule.get(part)).values():
                guesses[at] = Guess(part, 0.85, "It is one of several columns of steps, which have numbers.")
        return rule
    if "action" not in by_field:
        return None
    at = by_field["action"]
    rule = {"action": sample.reference(at)}
    for part in ("expected", "data"):
        if part in by_field:
            rule[part] = sample.reference(by_field[part])
    key = next((by_field[name] for name in ("external_id", "title") if name in by_field), None)
    if key is not None:
        filled = [cells[key] for cells in sample.rows if cells[key].strip()]
        blanks = sum(1 for cells in sample.rows if not cells[key].strip() and cells[at].strip())
        if (number_at := _number_column(sample, guesses)) is not None:
            guesses[number_at] = Guess("step_number", 0.85, "Its cells are the numbers of the steps.")
            rule["number"] = sample.reference(number_at)
        if blanks:
            return {"style": "rows", "continues_when_blank": sample.reference(key), **rule}
        if len(set(filled)) < 0.8 * len(filled) and all(one != "" for one in filled):
            return {"style": "rows", "continues_when_same": sample.reference(key), **rule}
        rule.pop("number", None)
    return {"style": "cell", **rule}


def _number_column(sample: Sample, guesses: dict[int, Guess]) -> int | None:
    """Return the column that numbers the steps of each test case, None where there is none."""
    for at, header in enumerate(sample.columns.header):
        values = sample.values(at)
        if (
            at not in guesses
            and fold(header) in _NUMBERS
            and values
            and all(map(str.isdecimal, map(str.strip, values)))
        ):
            return at
    return None


def numbered_steps(sample: Sample) -> dict[str, Any] | None:
    """Return the rule of steps that have a column each: `Step 1`, `Expected 1`, `Step 2`, ..."""
    patterns: dict[str, list[int]] = {}
    for header in sample.columns.header:
        if len(header) <= LONGEST_HEADER and (match := _NUMBERED_STEP.fullmatch(header)) is not None:
            patterns.setdefault(f"{match[1]}{{n}}{match[3]}", []).append(int(match[2]))
    rule: dict[str, Any] = {}
    for pattern, numbers in patterns.items():
        look = fold(pattern.replace("{n}", " "))
        for part in ("expected", "data", "action"):
            if part not in rule and len(numbers) > 1 and _says(look, part):
                rule[part] = pattern
                break
    return {"style": "columns", **rule} if "action" in rule else None


def _says(look: str, part: str) -> bool:
    """Check whether a header, or a word of it, is known to mean a part of steps."""
    return any(part in known_headers().get(said, {}) for said in (look, *look.split()))
