"""What is wrong with a request is said to a person: nothing of the parser's wording, nothing of a secret."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

import pytest
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, HttpUrl, SecretStr, TypeAdapter, ValidationError
from pydantic_core import PydanticKnownError
from pydantic_core._pydantic_core import list_all_errors
from pydantic_core.core_schema import ErrorType
from typing_extensions import TypedDict

from chassis.core.problems import Problem
from chassis.web.sentences import sentence
from chassis.web.text_forms import NOT_BLANK, TextForm
from chassis.web.validation import from_validation

KNOWN = {known["type"]: known for known in list_all_errors()}
THEIRS = ("Input", "should", "valid", "Value", "parse", "item", "dictionar", "Extra", "Field", "{", "  ")


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Nested(BaseModel):
    model_config = ConfigDict(extra="forbid")
    size: int = Field(default=1, ge=1, le=9)


class Thing(BaseModel):
    model_config = ConfigDict(extra="forbid")
    title: str = Field(default="x", min_length=1, max_length=500)
    password: SecretStr = Field(default=SecretStr("long enough"), min_length=8, max_length=20)
    pin: Annotated[str, Field(min_length=4)] = "1234"
    colour: Colour = Colour.RED
    colours: list[Colour] = []
    kind: Literal["one", "two"] = "one"
    paint: Literal[Colour.RED, Colour.BLUE] = Colour.RED
    id: UUID | None = None
    number: int = Field(default=0, ge=0, le=500)
    score: float | None = Field(default=None, gt=0, lt=1, allow_inf_nan=False)
    flag: bool = False
    tags: list[str] = Field(default=[], min_length=0, max_length=2)
    steps: dict[Annotated[str, Field(pattern="[0-9]")], str] | None = None
    at: datetime | None = None
    day: date | None = None
    wait: timedelta | None = None
    price: Decimal | None = None
    page: HttpUrl | None = None
    nested: Nested | None = None
    token_id: int = 1
    name: Annotated[str, TextForm("[a-z]+", "is no name: that has small letters alone")] = "x"
    label: Annotated[str, NOT_BLANK] = "x"


class Change(TypedDict, total=False):
    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]
    title: str


class Answer(Thing):
    version: int
    created_at: datetime


def refused(value: Any, kind: Any = Thing, answer: Any = Answer) -> Problem:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(value)
    errors = [{**entry, "loc": ("body", *entry["loc"])} for entry in caught.value.errors()]
    return from_validation(RequestValidationError(errors), kind, answer)


@pytest.mark.parametrize("kind", sorted(get_args(ErrorType)))
def test_no_error_of_pydantic_gets_through_in_its_own_words(kind: str) -> None:
    context = KNOWN[kind].get("example_context") or {}
    if kind in ("value_error", "assertion_error"):
        context = {"error": ValueError("Said by us.")}
    theirs = PydanticKnownError(kind, context or None).message()  # type: ignore[arg-type]
    for sent in ("x", 5, None, [], {}, True, 1.5):
        told = sentence({"type": kind, "loc": ("body", "name"), "input": sent, "ctx": context, "msg": theirs})
        assert told not in (theirs, f"{theirs}.")
        assert told.endswith((".", "."))
        assert [word for word in THEIRS if word in told] == [], told


@pytest.mark.parametrize(
    ("sent", "pointer", "told"),
    [
        ({"title": ""}, "/title", "This text must not be blank."),
        ({"title": "x" * 503}, "/title", "This must have at most 500 characters; it has 503."),
        ({"title": None}, "/title", "This must be a text, not null."),
        ({"title": 5}, "/title", "This must be a text, not 5."),
        ({"title": ["a"]}, "/title", "This must be a text, not a list."),
        ({"password": "short"}, "/password", "This must have at least 8 characters; it has 5."),
        ({"password": "x" * 21}, "/password", "This must have at most 20 characters; it has 21."),
        ({"password": 12345678}, "/password", "This must be a text, not a number."),
        ({"pin": "1"}, "/pin", "This must have at least 4 characters; it has 1."),
        ({"colour": "green"}, "/colour", "There is no colour 'green'; it can be red or blue."),
        ({"colour": None}, "/colour", "This must be red or blue, not null."),
        ({"kind": "three"}, "/kind", "There is no kind 'three'; it can be one or two."),
        ({"paint": "green"}, "/paint", "There is no paint 'green'; it can be red or blue."),
        ({"id": "REQ-1"}, "/id", "'REQ-1' is no id: ids are UUIDs such as 7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11."),
        ({"id": []}, "/id", "A list is no id: ids are UUIDs such as 7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11."),
        ({"at": {}}, "/at", "An object is no moment. Give a day such as 2026-01-31 (its midnight, UTC) or a time"),
        ({"token_id": "x"}, "/token_id", "This must be a whole number, not 'x'."),
        ({"name": "Mine"}, "/name", "'Mine' is no name: that has small letters alone."),
        ({"name": "a" * 9 + "\n"}, "/name", "'aaaaaaaaa\ufffd' is no name: that has small letters alone."),
        ({"name": 5}, "/name", "This must be a text, not 5."),
        ({"label": "\u202e"}, "/label", "This text must not be blank."),
        ({"label": "\u200b\u3000\n\x7f"}, "/label", "This text must not be blank."),
        ({"id": 5}, "/id", "5 is no id: ids are UUIDs such as 7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11."),
        ({"number": 501}, "/number", "This must be at most 500, not 501."),
        ({"number": -1}, "/number", "This must be at least 0, not -1."),
        ({"number": "x"}, "/number", "This must be a whole number, not 'x'."),
        ({"number": 1.5}, "/number", "This must be a whole number, not 1.5."),
        ({"score": 1}, "/score", "This must be less than 1.0, not 1."),
        ({"score": "high"}, "/score", "This must be a number, not 'high'."),
        ({"score": float("nan")}, "/score", "This must be a number, not nan."),
        ({"flag": "perhaps"}, "/flag", "This must be true or false, not 'perhaps'."),
        ({"tags": "one"}, "/tags", "This must be a list, not 'one'."),
        ({"tags": ["a", 2]}, "/tags/1", "This must be a text, not 2."),
        (
            {"colours": ["red", "green"]},
            "/colours/1",
            "There is no 'green' among the colours; each can be red or blue.",
        ),
        ({"tags": list("abc")}, "/tags", "This must have at most 2 members; it has 3."),
        ({"steps": ["Press"]}, "/steps", "This must be an object, not a list."),
        ({"steps": {"a/b~": "Press"}}, "/steps/a~1b~0", "'a/b~' does not have the form that is asked for."),
        (
            {"at": "yesterday"},
            "/at",
            "'yesterday' is no moment. Give a day such as 2026-01-31 (its midnight, UTC) or a",
        ),
        ({"day": "2026-02-30"}, "/day", "'2026-02-30' is no day such as 2026-01-31."),
        ({"wait": "long"}, "/wait", "'long' is no duration such as PT1H30M."),
        ({"price": "dear"}, "/price", "This must be a number, not 'dear'."),
        ({"page": "home"}, "/page", "'home' is no address such as https://example.com/page."),
        ({"nested": 5}, "/nested", "This must be an object, not 5."),
        ({"nested": {"size": 10}}, "/nested/size", "This must be at most 9, not 10."),
        ({"colour": "x" * 1000}, "/colour", f"There is no colour '{'x' * 60}…'; it can be red or blue."),
        ({"colour": "a\0\u202e\nb"}, "/colour", "There is no colour 'a\ufffd\ufffd\ufffdb'; it can be red or blue."),
        ([], "", "The body must be a JSON object, not a list."),
        (["x"], "", "The body must be a JSON object, not a list."),
        ("title", "", "The body must be a JSON object, not a text."),
    ],
)
def test_what_is_wrong_is_said_with_the_value_and_what_to_do(sent: Any, pointer: str, told: str) -> None:
    problem = refused(sent)
    assert [error.pointer for error in problem.errors] == [pointer]
    assert problem.errors[0].message.startswith(told)
    assert problem.errors[0].message.endswith(".")
    where = f"{pointer.strip('/').replace('/', '.').replace('~1', '/').replace('~0', '~')}: " if pointer else ""
    assert problem.detail == where + problem.errors[0].message
    assert problem.code == "invalid_request"


def test_the_document_has_the_form_of_a_text() -> None:
    assert Thing.model_json_schema()["properties"]["name"] == {
        "default": "x",
        "pattern": "^[a-z]+$",
        "title": "Name",
        "type": "string",
    }


def test_what_is_missing_is_said() -> None:
    errors = [{"type": "missing", "loc": ("body", "title"), "input": {}, "msg": ""}]
    errors.append({"type": "missing", "loc": ("query", "q"), "input": {}, "msg": ""})
    problem = from_validation(RequestValidationError(errors))
    assert [(error.pointer, error.message) for error in problem.errors] == [
        ("/title", "This is missing; it is required."),
        ("/query/q", "This is missing; it is required."),
    ]
    missing = [{"type": "missing", "loc": ("body",), "input": None, "msg": ""}]
    assert from_validation(RequestValidationError(missing)).detail == "The body is missing; send a JSON object."


@pytest.mark.parametrize(
    ("sent", "kind", "pointer", "told"),
    [
        ({"titel": "x"}, Thing, "/titel", "There is no field 'titel' here; did you mean 'title'?"),
        ({"nested": {"sise": 1}}, Thing, "/nested/sise", "There is no field 'sise' here; did you mean 'size'?"),
        ({"nested": {"version": 1}}, Thing, "/nested/version", "There is no field 'version' here. There is: size."),
        ({"rule": "x"}, Change, "/rule", "There is no field 'rule' here. There is: title."),
        ({"titles": "x"}, Change, "/titles", "There is no field 'titles' here; did you mean 'title'?"),
    ],
)
def test_a_field_that_there_is_not_is_told_which_there_are(sent: Any, kind: Any, pointer: str, told: str) -> None:
    problem = refused(sent, kind)
    assert [(error.pointer, error.message, error.code) for error in problem.errors] == [
        (pointer, told, "unknown_field")
    ]
    assert (problem.code, problem.detail) == ("unknown_field", told)


@pytest.mark.parametrize("name", ["version", "created_at", "colour"])
def test_a_field_that_exists_and_cannot_be_changed_is_said_to(name: str) -> None:
    problem = refused({name: "x"}, Change)
    assert [(error.pointer, error.message, error.code) for error in problem.errors] == [
        (f"/{name}", f"'{name}' cannot be changed; what can be is title.", "read_only_field")
    ]
    assert problem.code == "unknown_field"
