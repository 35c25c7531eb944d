"""Proposes what columns of levels are, where the project has levels; where it has none, they are further data."""

from collections.abc import Mapping
from typing import Any

from catalog_service.exchange.tabular.presets import Sample
from catalog_service.exchange.tabular.proposed_values import Guess
from catalog_service.exchange.tabular.values import YES_OR_NO
from catalog_service.exchange.words import fold

_FIELDS = {
    **dict.fromkeys(("level", "requirement level", "level of requirement", "ebene", "niveau", "nivel"), "level"),
    **dict.fromkeys(("derived", "is derived", "derived requirement", "abgeleitet"), "derived"),
    **dict.fromkeys(("rationale", "begründung", "justification"), "rationale"),
}


def take_levels(mapping: dict[str, Any], sample: Sample, levels: Mapping[str, str], guesses: dict[int, Guess]) -> None:
    """Have columns of requirements that are called level, derived or rationale become these fields."""
    if not levels or mapping["kind"] != "requirements":
        return
    fields = mapping["fields"]
    taken = {str(rule.get("column")) for rule in fields.values() if isinstance(rule, dict)}
    for at in range(len(sample.columns)):
        header = sample.columns.header[at]
        name = _FIELDS.get(fold(header))
        if name is None or name in fields or at in guesses or header in taken:
            continue
        if name == "derived" and any(fold(value) not in YES_OR_NO for value in sample.values(at)):
            continue
        fields[name] = {"column": sample.reference(at)}
        guesses[at] = Guess(name, 0.95, "The project has levels of requirements.")
