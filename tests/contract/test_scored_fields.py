"""An import's plan says how many items will be scored: by the fields that the suggestions are made of."""

from dataclasses import fields

from catalog_service.exchange.planning.plan import SCORED
from contracts import catalog
from suggestion_service.engine import Entry, ItemText
from suggestion_service.items import service as items

WORKED_OUT = {"terms", "language"}
"""Of an entry, what is read from the texts."""


def test_the_plan_of_an_import_counts_by_the_fields_that_suggestions_are_made_of() -> None:
    scored = {field.name for field in fields(ItemText)} | {field.name for field in fields(Entry)} - WORKED_OUT
    assert set(SCORED) == scored


def test_each_of_them_is_what_an_event_says_of_an_item() -> None:
    assert set(SCORED) <= catalog.TestCaseState.model_fields.keys()
    state = catalog.TestCaseState.model_construct(**{name: f"a {name}" for name in SCORED})
    assert items.text_of(state).keys() | {"module", "tags", "priority"} == set(SCORED)
