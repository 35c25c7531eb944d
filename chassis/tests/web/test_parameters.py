"""How the parameters of lists are read."""

from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.core.problems import Invalid
from chassis.web.parameters import (
    Choice,
    parse_choice,
    parse_expand,
    parse_fields,
    parse_ids,
    parse_moment,
    parse_sort,
    parse_words,
)


@pytest.mark.parametrize(
    ("value", "meant"),
    [(None, set()), ("coverage", {"coverage"}), ("texts, coverage,texts", {"texts", "coverage"})],
)
def test_expand_takes_one_or_several(value: str | None, meant: set[str]) -> None:
    assert parse_expand(value, {"coverage", "texts"}) == meant


def test_what_cannot_be_expanded_is_refused_with_what_can_be() -> None:
    with pytest.raises(Invalid) as caught:
        parse_expand("texts,covrage,", ["texts", "coverage"])
    assert [(error.pointer, error.code) for error in caught.value.errors] == [
        ("/query/expand", "unknown_value"),
        ("/query/expand", "empty_value"),
    ]
    assert caught.value.errors[0].message == "'covrage' cannot be expanded here; what can be is: coverage, texts."


def test_a_list_of_names_that_is_empty_is_refused_as_that() -> None:
    with pytest.raises(Invalid) as expanded:
        parse_expand("", ["texts"])
    assert expanded.value.errors[0].message == "A value is empty; leave expand out to have nothing more."
    with pytest.raises(Invalid) as narrowed:
        parse_fields("id, ,", ["id", "title"])
    (error,) = narrowed.value.errors
    assert (error.pointer, error.code) == ("/query/fields", "empty_value")
    assert error.message == "A value is empty; leave fields out to have all."


NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("2026-11-22", NOON - timedelta(hours=12)),
        ("2026-11-22T12:00:00Z", NOON),
        ("2026-11-22t12:00:00z", NOON),
        ("2026-11-22 12:00:00Z", NOON),
        ("2026-11-22T13:30:00+01:30", NOON),
        ("2026-11-22T13:30:00 01:30", NOON),
        ("2026-11-22T07:00:00-05:00", NOON),
        ("2026-11-22T12:00:00.5Z", NOON + timedelta(seconds=0.5)),
        ("2026-11-22T12:00:00.123456789Z", NOON + timedelta(microseconds=123456)),
        (" 2026-11-22T12:00:00Z ", NOON),
        ("2016-12-31T23:59:60Z", datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_a_moment_is_a_timestamp_with_any_offset_or_a_day(value: str, meant: datetime) -> None:
    moment = parse_moment("since", value)
    assert (moment, moment.tzinfo) == (meant, UTC)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "yesterday",
        "1763812800",
        "2026-11",
        "20261122",
        "2026-02-30",
        "2026-W47-7",
        "2026-11-22T12:00:00",
        "2026-11-22T12:00Z",
        "2026-11-22T25:00:00Z",
        "2026-11-22T12:00:00+24:00",
        "0000-01-01",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
        "\u0662\u0660\u0662\u0666-11-22",
    ],
)
def test_what_is_no_moment_is_refused_with_an_example(value: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse_moment("updated_since", value)
    [error] = caught.value.errors
    assert (error.pointer, error.code) == ("/query/updated_since", "invalid_moment")
    assert repr(value) in error.message
    assert "2026-01-31T12:00:00Z" in error.message


@given(st.datetimes(), st.integers(-1439, 1439))
def test_every_timestamp_that_python_writes_is_read(local: datetime, minutes: int) -> None:
    moment = local.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    try:
        meant = moment.astimezone(UTC)
    except OverflowError:
        return
    assert parse_moment("since", moment.isoformat()) == meant


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@pytest.mark.parametrize(
    ("value", "included", "excluded"),
    [
        ("a", ("a",), ()),
        (" a , b,a", ("a", "b"), ()),
        ("!a, ! b,c", ("c",), ("a", "b")),
        ('"Zahlung, Käse & Co"', ("Zahlung, Käse & Co",), ()),
        ('"a,b" , !"c,d",e f', ("a,b", "e f"), ("c,d",)),
        ('" a "', (" a ",), ()),
        ('"!a"', ("!a",), ()),
        ('"say ""no""", 5" disk', ('say "no"', '5" disk'), ()),
        ('""""', ('"',), ()),
        ('""', ("",), ()),
        ('!"",a', ("a",), ("",)),
    ],
)
def test_a_filter_has_alternatives_and_exclusions(
    value: str, included: tuple[str, ...], excluded: tuple[str, ...]
) -> None:
    assert parse_words("module", value) == Choice(included, excluded)


@given(st.lists(st.text(), min_size=1, max_size=9, unique=True), st.booleans())
def test_every_text_can_be_filtered_by(values: list[str], excluding: bool) -> None:
    written = ",".join(f'{"!" if excluding else ""}"{value.replace(chr(34), chr(34) * 2)}"' for value in values)
    meant = Choice((), tuple(values)) if excluding else Choice(tuple(values), ())
    assert parse_words("module", written) == meant


@given(st.text(alphabet='a,!" \n', max_size=12))
def test_every_filter_is_read_or_refused(value: str) -> None:
    try:
        choice = parse_words("module", value)
    except Invalid:
        return
    assert choice is not None
    assert choice.included + choice.excluded


@pytest.mark.parametrize(
    ("value", "code", "told"),
    [
        ("", "empty_value", 'A value is empty; leave module out to have all, or write module="" for'),
        ("a,", "empty_value", "A value is empty"),
        (" , a", "empty_value", "A value is empty"),
        ("!", "empty_value", "A value is empty"),
        ('"Doors, left', "malformed_value", "The quotes of '\"Doors, left' are not closed"),
        ('a,!"b', "malformed_value", "The quotes of '\"b' are not closed"),
        ('"a""', "malformed_value", 'The quotes of \'"a""\' are not closed'),
        ('"a" b', "malformed_value", "After the quotes of '\"a\" b' comes a comma or the end."),
        (
            ",".join(map(str, range(10_000))),
            "too_many_values",
            "At most 1000 values are taken; these are 10000: ask for them in parts.",
        ),
    ],
)
def test_a_filter_that_cannot_be_read_is_refused(value: str, code: str, told: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_words("module", value)
    (error,) = refused.value.errors
    assert (error.pointer, error.code) == ("/query/module", code)
    assert error.message.startswith(told)


def test_values_of_a_closed_list_are_its_members() -> None:
    assert parse_choice("colour", "red, !blue,red", Colour) == Choice((Colour.RED,), (Colour.BLUE,))
    assert parse_choice("colour", None, Colour) is None


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("green", ["There is no colour 'green'; it can be red or blue."]),
        ("RED,red,!pink", [f"There is no colour '{word}'; it can be red or blue." for word in ("RED", "pink")]),
        ('""', ["There is no colour ''; it can be red or blue."]),
        ("", ["A value is empty; leave colour out to have all."]),
        (",".join(f"c{number}" for number in range(999)), [f"There is no colour 'c{n}'; it can be" for n in range(10)]),
    ],
)
def test_another_value_of_a_closed_list_is_named_with_those_there_are(value: str, told: list[str]) -> None:
    with pytest.raises(Invalid) as refused:
        parse_choice("colour", value, Colour)
    assert len(refused.value.errors) == len(told)
    for error, start in zip(refused.value.errors, told, strict=True):
        assert error.message.startswith(start)
        assert error.pointer == "/query/colour"


def test_of_a_long_list_the_value_that_was_meant_is_proposed_as_it_can_be_sent() -> None:
    many = StrEnum("many", {f"SHADE_{n}": f"shade.{chr(ord('a') + n) * 9}" for n in range(26)})  # type: ignore[misc]
    with pytest.raises(Invalid) as refused:
        parse_choice("colour", "shade.ccccccccx", many)
    assert refused.value.errors[0].message == "There is no colour 'shade.ccccccccx'; did you mean 'shade.ccccccccc'?"


def test_ids_are_uuids() -> None:
    one, other = uuid4(), uuid4()
    assert parse_ids("link_id", f"{one},!{str(other).upper()}") == Choice((one,), (other,))
    assert parse_ids("link_id", None) is None
    for value in ("REQ-1", f"{UUID(int=0)},x", '""'):
        with pytest.raises(Invalid) as refused:
            parse_ids("link_id", value)
        assert "is no id: ids are UUIDs such as" in refused.value.detail


def test_a_sort_that_there_is_not_is_refused_with_those_there_are() -> None:
    for value in ("shoe", "title:up", "", ":"):
        with pytest.raises(Invalid) as refused:
            parse_sort(value, ["title", "priority"])
        assert refused.value.errors[0].message == (
            f"It is not possible to sort by '{value}'; sort by title or priority, with :asc or :desc."
        )
