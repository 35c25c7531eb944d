"""How the parameters of lists are read."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.http.paging import parse_expand, parse_moment
from chassis.problems import Invalid


@pytest.mark.parametrize(
    ("value", "meant"),
    [(None, set()), ("coverage", {"coverage"}), ("texts, coverage,texts", {"texts", "coverage"})],
)
def test_expand_takes_one_or_several(value: str | None, meant: set[str]) -> None:
    assert parse_expand(value, {"coverage", "texts"}) == meant


def test_what_cannot_be_expanded_is_refused_with_what_can_be() -> None:
    with pytest.raises(Invalid) as caught:
        parse_expand("texts,covrage,", ["texts", "coverage"])
    assert [(error.pointer, error.code) for error in caught.value.errors] == [("/query/expand", "unknown_value")] * 2
    assert caught.value.errors[0].message == "'covrage' cannot be expanded here; what can be is: coverage, texts."


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
