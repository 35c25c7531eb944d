"""The fields of items are read as the models of the API read them, however many rows have them alike."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from catalog_service.exchange.item_fields import ItemFields
from catalog_service.requirements.schemas import RequirementWrite
from catalog_service.test_cases.schemas import TestCaseWrite
from chassis.core.problems import Invalid
from chassis.web import strict_json

MODELS = {"requirement": RequirementWrite, "test_case": TestCaseWrite}
READERS = {kind: ItemFields(model) for kind, model in MODELS.items()}
"""Of all examples, so that they find what those before them have left."""
REQUIRED = {"title": "Doors close", "description": "Before departure.", "type": "functional", "priority": "low"}
WORDS = st.sampled_from(
    ["draft", "ready", "manual", "functional", "low", "1", "true", "null", "", " ", "a\0", "\ud800"]
)
VALUES = st.one_of(
    *(WORDS, st.booleans(), st.integers(0, 2), st.floats(0, 2), st.just(2**64), st.just(float("nan"))),
    *(st.text(max_size=5), st.text("x", min_size=99, max_size=101)),
)
SENT = st.dictionaries(
    st.sampled_from([name for model in MODELS.values() for name in model.model_fields]),
    st.one_of(VALUES, st.lists(VALUES, max_size=2), st.dictionaries(WORDS, VALUES, max_size=2)),
    max_size=6,
)


def as_the_model_reads(model: type[BaseModel], sent: dict[str, Any]) -> dict[str, Any] | None:
    with suppress(ValidationError, Invalid):
        read = model.model_validate(sent).__dict__
        strict_json.check(read)
        return read
    return None


@given(kind=st.sampled_from(list(MODELS)), sent=SENT)
def test_fields_are_those_that_the_model_reads(kind: str, sent: dict[str, Any]) -> None:
    for fields in (sent, REQUIRED | sent):
        expected = as_the_model_reads(MODELS[kind], fields)
        read = READERS[kind].read(fields)
        assert read is None if expected is None else read == expected
        if read is not None and expected is not None:
            assert {name: type(value) for name, value in read.items()} == {n: type(v) for n, v in expected.items()}


@pytest.mark.parametrize(
    ("one", "other"),
    [({"module": "1"}, {"module": 1}), ({"tags": ["1"]}, {"tags": [True]}), ({}, {"module": float("nan")})],
)
def test_what_looks_alike_is_not_taken_for_what_is_known(one: dict[str, Any], other: dict[str, Any]) -> None:
    fields = ItemFields(RequirementWrite)
    assert fields.read(REQUIRED | one) is not None
    assert fields.read(REQUIRED | other) is None


def test_one_row_changes_no_other() -> None:
    fields = ItemFields(RequirementWrite)
    first = fields.read(REQUIRED | {"external_id": "A", "module": "doors"})
    assert first is not None
    first["module"] = "windows"
    second = fields.read(REQUIRED | {"external_id": "B", "module": "doors"})
    assert second is not None
    assert (second["external_id"], second["module"]) == ("B", "doors")
