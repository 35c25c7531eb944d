r"""Halves of surrogate pairs in JSON results, such as \ud83d where a runner has cut a text in two."""

import io
import json
import re

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_service.executions.read import Order, Read, read
from catalog_service.executions.readers.whole_texts import Mended, mended

_PARTS = st.sampled_from(
    [
        rb"\ud83d",
        rb"\uDE00",
        rb"\uD800",
        rb"\ud83d\ude00",
        rb"\\",
        rb"\n",
        rb"\"",
        rb"\u0041",
        b"ud83d",
        b"a",
        b"\xc3\xa9",
    ]
)
_HALVES = re.compile("[\ud800-\udfff]")


@given(st.lists(_PARTS, max_size=30).map(b"".join), st.integers(1, 20))
def test_a_text_keeps_all_but_its_halves(inside: bytes, size: int) -> None:
    text = b'"' + inside + b'"'
    whole = orjson.loads(mended(text))
    assert whole == _HALVES.sub("\ufffd", json.loads(text))
    file = Mended(io.BytesIO(text))
    assert b"".join(iter(lambda: file.read(size), b"")) == mended(text)


@pytest.mark.parametrize("half", [rb"\ud83d", rb"\ude00"])
@pytest.mark.parametrize(
    ("known", "content"),
    [
        ("ctrf", b'{"results":{"tool":{},"summary":{},"tests":[{"name":"a HALF","status":"passed"}]}}'),
        (
            "cucumber-json",
            b'[{"keyword":"Feature","elements":[{"name":"a HALF","steps":[{"result":{"status":"passed"}}]}]}]',
        ),
        (
            "playwright-json",
            b'{"config":{"rootDir":"","projects":[]},"suites":[{"title":"s","specs":[{"title":"a HALF","ok":true,'
            b'"tests":[{"status":"expected"}]}]}]}',
        ),
        ("allure", b'{"uuid":"u","labels":[],"status":"passed","name":"a HALF"}'),
        ("go-test-json", b'{"Action":"pass","Package":"p","Test":"a HALF"}'),
    ],
)
def test_half_a_surrogate_pair_costs_a_report_no_result(known: str, content: bytes, half: bytes) -> None:
    out = io.BytesIO()
    found = read(io.BytesIO(content.replace(b"HALF", half)), out, Order("auto"))
    assert isinstance(found, Read), found
    assert (found.format, found.counts["passed"]) == (known, 1)
    assert "a \ufffd\t" in out.getvalue().decode()


def test_what_is_wrong_behind_a_half_has_its_place() -> None:
    content = b'{"results":{"tool":{},"summary":{},"tests":[{"name":"\\ud83d","status":"passed"},\n 1]}}'
    refused = read(io.BytesIO(content), io.BytesIO(), Order("auto"))
    assert not isinstance(refused, Read)
    assert (refused.members["line"], refused.members["column"]) == (2, 2)
