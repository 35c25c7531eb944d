"""What the API takes for JSON, and what it says about the rest."""

import asyncio
import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.core.problems import Invalid, MalformedBody
from chassis.web import strict_json
from chassis.web.costly import Deadline


@pytest.mark.parametrize(
    ("body", "pointer", "code"),
    [
        (rb'{"title": "a\u0000b"}', "/title", "invalid_text"),
        (rb'{"tags": ["ok", "\ud800"]}', "/tags/1", "invalid_text"),
        (rb'{"meta": {"a\u0000": 1}}', "/meta/a\0", "invalid_text"),
        (b'{"score": NaN}', "/score", "number_out_of_range"),
        (b'{"score": -Infinity}', "/score", "number_out_of_range"),
        (b'{"score": 1e999}', "/score", "number_out_of_range"),
        (b'{"minutes": 9223372036854775808}', "/minutes", "number_out_of_range"),
        (b'{"minutes": ' + b"9" * 5000 + b"}", "", "number_out_of_range"),
        (b'{"a/b~c": NaN}', "/a~1b~0c", "number_out_of_range"),
        (b'{"title": "x", "title": "y"}', "/title", "duplicate_key"),
        (b'{"a/b": [1, {"m": {"k": 1, "j": 2, "k": 1}}]}', "/a~1b/1/m/k", "duplicate_key"),
        (rb'{"title": "x", "\u0074itle": "x"}', "/title", "duplicate_key"),
        (b'{"a": {"x": 1, "x": 2}, "a": 1}', "/a", "duplicate_key"),
        (b'[{"x": 1, "x": 2}, {"y": 1}]', "/0/x", "duplicate_key"),
        (b"[[" + b",".join([b"1"] * 60_000) + b"],[" + b",".join([b"1"] * 60_000) + b"]]", "", "too_many"),
        (b"[" * 33 + b"]" * 33, "/0" * 32, "too_deep"),
        (b"[" * 100_000, "", "too_deep"),
        (b'{"a":' * 100_000, "", "too_deep"),
        (b'{"tags": [' + b"1," * 10_000 + b"1]}", "/tags", "too_many"),
        (b"{" + b",".join(b'"%d":1' % number for number in range(10_001)) + b"}", "", "too_many"),
        (b"{" + b",".join(b'"%d":1' % number for number in range(1_001)) + b"}", "", "too_many"),
    ],
    ids=range(21),
)
def test_what_cannot_be_stored_is_refused_with_its_place(body: bytes, pointer: str, code: str) -> None:
    with pytest.raises(Invalid) as caught:
        strict_json.parse(body)
    [error] = caught.value.errors
    assert (error.pointer, error.code) == (pointer, code)


async def test_a_large_body_is_read_while_others_go_on() -> None:
    reading = asyncio.create_task(strict_json.parse_beside(b'{"title": "%b"}' % (b"x" * 100_000)))
    wrong = asyncio.create_task(strict_json.parse_beside(b'{"title": "%b", "title": 1}' % (b"x" * 100_000)))
    await asyncio.sleep(0)
    assert not reading.done()
    assert await reading == {"title": "x" * 100_000}
    with pytest.raises(Invalid):
        await wrong


@pytest.mark.parametrize("body", [b"{", b"", b"\xff", b"{'a': 1}", b'{"a": 1} x', b'"\x00"', b"\xef\xbb\xbf{}"])
def test_what_is_no_json_is_malformed(body: bytes) -> None:
    with pytest.raises(MalformedBody):
        strict_json.parse(body)


@pytest.mark.parametrize(
    ("text", "pointer", "message"),
    [
        (b"{'a': 1}", None, "The part `mapping` of the form is not valid JSON: a name in double quotes is missing at"),
        (b"{} {}", None, "The part `mapping` of the form is not valid JSON: it goes on after its end at"),
        (b"\xff", None, "The part `mapping` of the form is not UTF-8 text"),
        (b"[" * 100_000, "/mapping", "The part `mapping` of the form is nested deeper"),
        (b"9" * 5000, "/mapping", "A number in the part `mapping` of the form is out of range"),
        (b'{"fields": NaN}', "/mapping/fields", "NaN, Infinity"),
    ],
    ids=range(6),
)
def test_what_is_wrong_with_a_part_of_a_form_is_told_of_that_part(
    text: bytes, pointer: str | None, message: str
) -> None:
    with pytest.raises(MalformedBody if pointer is None else Invalid) as caught:
        strict_json.parse(text, "mapping")
    told = [caught.value.detail, *(error.message for error in caught.value.errors)]
    assert any(one.startswith(message) for one in told)
    assert [error.pointer for error in caught.value.errors] == ([] if pointer is None else [pointer])


def test_32_levels_are_fine() -> None:
    assert strict_json.parse(b"[" * 32 + b"]" * 32) is not None


@given(st.text())
def test_text_is_storable_exactly_when_utf8_and_postgresql_can_carry_it(text: str) -> None:
    try:
        text.encode("utf-8")
        carried = "\0" not in text
    except UnicodeEncodeError:
        carried = False
    assert strict_json.is_storable(text) is carried


@given(st.binary())
def test_no_bytes_are_too_strange(body: bytes) -> None:
    with contextlib.suppress(Invalid, MalformedBody):
        strict_json.parse(body)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda members: st.lists(members) | st.dictionaries(st.text(), members),
    ).map(lambda value: json.dumps(value).encode())
    | st.text(alphabet='[]{},:"0 nul').map(str.encode)
)
def test_json_of_many_values_is_read_as_that_of_few_is(text: bytes) -> None:
    many = b"[" + b"1," * 5_000 + text + b"]"
    try:
        expected = json.loads(many)
    except json.JSONDecodeError as error:
        with pytest.raises(MalformedBody, match=f"column {error.colno}"):
            strict_json.parse(many, deadline=Deadline(60))
    else:
        with contextlib.suppress(Invalid):
            assert strict_json.parse(many, deadline=Deadline(60)) == expected
